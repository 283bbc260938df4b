//! Errors as people read them: what happened, the place in the file with a caret, and `hint:` on its own line.

use std::io::IsTerminal;

use annotate_snippets::{self as snippet, AnnotationKind, Group, Level, Renderer, Snippet};
use ddelm::Error;
use ddelm::file::Origin;

use crate::failure::Failure;
use crate::printable::printable;

/// What standard error can show.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Whether somebody watches.
    pub interactive: bool,
    /// Whether to use colours.
    pub colours: bool,
}

impl Terminal {
    /// Asks the environment. `NO_COLOR` turns colours off (<https://no-color.org>).
    pub fn detect() -> Self {
        let interactive = std::io::stderr().is_terminal();
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Terminal { interactive, colours: interactive && !refused }
    }

    fn renderer(&self) -> Renderer {
        if self.colours { Renderer::styled() } else { Renderer::plain() }
    }

    /// A warning.
    pub fn warning(&self, message: &str) -> String {
        self.renderer().render(&[Group::with_title(Level::WARNING.primary_title(&*printable(message)))])
    }

    /// A failure, with its place in the problem file where that is known.
    pub fn render(&self, failure: &Failure) -> String {
        let message = message(&failure.error);
        let message = printable(&message);
        let title = Level::ERROR.primary_title(&*message);
        let name = failure.file.as_deref().map(|(path, _)| path.display().to_string()).unwrap_or_default();
        let name = printable(&name).into_owned();
        let place = failure.file.as_deref().and_then(|(_, file)| Some((file, file.place(&failure.error)?)));
        let mut group = match place {
            Some((file, place)) => {
                let path = match place.origin {
                    Origin::File => name.as_str(),
                    Origin::Override(_) => "--set",
                };
                let caret = AnnotationKind::Primary.span(place.span);
                title.element(Snippet::source(file.text(place.origin)).path(path).annotation(caret))
            }
            // What is missing altogether has no line, but the file has a name.
            None if failure.error.key().is_some() && !name.is_empty() => {
                title.element(snippet::Origin::path(name.as_str()))
            }
            None => Group::with_title(title),
        };
        if let Some(hint) = failure.error.hint() {
            group = group.element(Level::HELP.with_name("hint").message(printable(hint)));
        }
        self.renderer().render(&[group])
    }
}

/// The message. The column in a formula is left out: the caret shows it.
fn message(error: &Error) -> String {
    match error {
        Error::Formula { key, error } => format!("{key}: {}", error.message),
        other => other.to_string(),
    }
}
