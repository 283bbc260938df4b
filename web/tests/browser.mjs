// A headless Chromium with the page in it.

import { chromium } from "playwright-core";
import { serve } from "../serve.mjs";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Opens a browser and a server; `close` ends both. */
export async function open() {
  const server = await serve(0);
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
  const address = `http://127.0.0.1:${server.address().port}/`;
  const close = async () => {
    await browser.close();
    server.close();
  };
  return { browser, address, close };
}

/** A page that reports whatever a console would show as an error, and any request to somewhere else. */
export async function newPage({ browser, address }, options = {}, path = "") {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.complaints = [];
  page.on("console", (message) => message.type() === "error" && page.complaints.push(message.text()));
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(address) && !/^(data|blob):/.test(url)) page.complaints.push(`a request to ${url}`);
  });
  await page.goto(address + path);
  await solved(page, 1);
  return page;
}

/** How many solutions the page has shown. */
export async function count(page) {
  return Number(await page.evaluate(() => document.body.dataset.drawn ?? 0));
}

/** Waits until so many solutions were shown. */
export async function solved(page, least) {
  await page.waitForFunction((least) => Number(document.body.dataset.drawn ?? 0) >= least, least);
}

/** Replaces the text, and waits for its solution. */
export async function type(page, text) {
  const before = await count(page);
  await page.fill("#text", text);
  await solved(page, before + 1);
}

/** The value of the field at a point, as the page shows it. */
export async function value(page, x, y) {
  await page.fill("#probe-x", String(x));
  await page.evaluate(() => (document.getElementById("probe-value").textContent = ""));
  await page.fill("#probe-y", String(y));
  await page.waitForFunction(() => document.getElementById("probe-value").textContent !== "");
  const text = await page.textContent("#probe-value");
  return Number(/= (.*)/.exec(text)?.[1] ?? NaN);
}
