//! `report.html` of `ddelm solve --out`: one page with everything that somebody needs who was not there. It needs no other
//! file and no network.

use ddelm::domain::division::Count;
use ddelm::{Problem, Report};

use crate::summary::summary;
use ddelm_picture::{Scene, svg};

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;max-width:66rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}\
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem;border-bottom:1px solid #ddd}\
.equation{font:italic 1.35rem Georgia,'Times New Roman',serif;margin:.6rem 0}\
pre{background:#f5f5f5;padding:.8rem;overflow-x:auto;white-space:pre-wrap;font-size:.86rem;line-height:1.4}\
.warning{border-left:4px solid #d9822b;background:#fdf3e7;padding:.4rem .8rem;margin:.6rem 0}\
.pictures{display:flex;flex-wrap:wrap;gap:1rem}.pictures figure{flex:1 1 26rem;margin:0;max-width:44rem}\
.pictures svg{width:100%;height:auto}";

/// What a page tells.
pub struct Page<'a> {
    /// What was solved.
    pub problem: &'a Problem,
    /// What the solve did.
    pub report: &'a Report,
    /// The number of subdomains or cells.
    pub count: Count,
    /// The names of the parts of the boundary.
    pub parts: &'a [String],
    /// The problem file, with its overrides.
    pub text: &'a str,
    /// How the program was called.
    pub command: &'a str,
    /// Pictures, with what they show.
    pub pictures: Vec<(&'static str, Scene)>,
}

impl Page<'_> {
    /// The page.
    pub fn html(&self) -> Result<String, String> {
        let equation = self.problem.typeset_equation();
        let (first, below) = equation.split_first().map_or(("", &[][..]), |(first, below)| (first.as_str(), below));
        let conditions = self.problem.typeset_boundary(self.parts);
        let details: Vec<&str> = below.iter().chain(&conditions).map(String::as_str).collect();
        let warnings: String = self.report.warnings.iter().map(|text| element("div class=\"warning\"", text)).collect();
        let mut pictures = String::new();
        for (what, scene) in &self.pictures {
            pictures += &format!("<figure aria-label=\"{}\">{}</figure>\n", escaped(what), svg(scene)?);
        }
        Ok(format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width\">\n<title>ddelm: {title}</title>\n<style>{STYLE}</style></head>\n<body>\n\
             <h1>Report of ddelm {version}</h1>\n<div class=\"equation\">{equation}</div>\n{details}\n{warnings}\
             <h2>Result</h2>\n{summary}\n<div class=\"pictures\">\n{pictures}</div>\n\
             <h2>Problem file</h2>\n{file}\n<h2>Command</h2>\n{command}\n</body>\n</html>\n",
            title = escaped(first),
            version = env!("CARGO_PKG_VERSION"),
            equation = escaped(&first.replace('-', "\u{2212}")),
            details = element("pre", &details.join("\n")),
            summary = element("pre", &summary(self.report, self.count)),
            file = element("pre", self.text),
            command = element("pre", self.command),
        ))
    }
}

/// An element around a text.
fn element(tag: &str, text: &str) -> String {
    let name = tag.split(' ').next().unwrap_or(tag);
    format!("<{tag}>{}</{name}>\n", escaped(text.trim_end()))
}

/// A text in which HTML sees nothing but text.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A command as a shell reads it.
pub fn command(arguments: &[std::ffi::OsString]) -> String {
    let plain = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "-_./=,:@%+".contains(c));
    let quoted = |text: String| if plain(&text) { text } else { format!("'{}'", text.replace('\'', "'\\''")) };
    let words = arguments.iter().enumerate().map(|(k, word)| {
        let word = word.to_string_lossy();
        // Where the program lies is nobody's business.
        quoted(if k == 0 { "ddelm".into() } else { word.into_owned() })
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted_into_a_shell() {
        let words = ["bin/ddelm", "solve", "p.toml", "--set", "equation.source=sin(x) it's"].map(Into::into);
        assert_eq!(command(&words), "ddelm solve p.toml --set 'equation.source=sin(x) it'\\''s'");
    }

    #[test]
    fn texts_are_no_html() {
        assert_eq!(element("pre", "a < b & \"c\"\n"), "<pre>a &lt; b &amp; &quot;c&quot;</pre>\n");
    }
}
