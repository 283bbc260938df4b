//! Completion scripts, in the shells that they are for. A shell that is not installed is passed over.

use std::fs;
use std::path::Path;
use std::process::Command;

const DDELM: &str = env!("CARGO_BIN_EXE_ddelm");

/// Writes the completion script of a shell and returns what the shell says to a program that uses it as `$1`.
fn completed(shell: &str, program: &str) -> Option<String> {
    if Command::new(shell).arg("-c").arg("exit").status().is_err() {
        eprintln!("{shell} is not installed");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("_ddelm");
    let printed = Command::new(DDELM).args(["completions", shell]).output().unwrap();
    assert!(printed.status.success());
    fs::write(&script, printed.stdout).unwrap();
    let done = run(shell, program, &script, folder.path());
    assert!(done.status.success(), "{shell}: {}", String::from_utf8_lossy(&done.stderr));
    Some(String::from_utf8(done.stdout).unwrap())
}

fn run(shell: &str, program: &str, script: &Path, folder: &Path) -> std::process::Output {
    // fish has no positional parameters, but knows the environment.
    let command = ["-c", program, shell];
    Command::new(shell).args(command).arg(script).env("SCRIPT", script).env("HOME", folder).output().unwrap()
}

#[test]
fn bash_completes_commands_options_and_choices() {
    let program = |words: &str| {
        format!(
            "source \"$1\"; COMP_WORDS=(ddelm {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _ddelm ddelm \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; echo \"${{COMPREPLY[@]}}\""
        )
    };
    let Some(commands) = completed("bash", &program("so")) else { return };
    assert_eq!(commands.trim(), "solve");
    assert!(completed("bash", &program("solve p.toml --wa")).is_some_and(|found| found.trim() == "--watch"));
    let fields = completed("bash", &program("plot u --field ''")).unwrap();
    assert!(fields.contains("residual") && fields.contains("flux"), "{fields}");
}

#[test]
fn zsh_completes_commands_options_and_choices() {
    // The completion system works at a prompt only: a second zsh has one, in a terminal of its own.
    let program = "(sleep 60; kill $$) >/dev/null 2>&1 & zmodload zsh/zpty; zpty -b inner zsh -f -i; \
                   zpty -w inner \"PS1=; autoload -Uz compinit; compinit -u -D; source $1; ddelm() { print got \\$* end }; print rea''dy\"; \
                   zpty -r -m inner said '*ready*'; \
                   for line in $'so\\t p.toml --wat\\t' $'plot u --field res\\t'; do \
                   zpty -w -n inner \"ddelm $line\"$'\\n'; zpty -r -m inner said '*got*end*'; print -r -- ${said##*got }; done; \
                   zpty -d inner; kill %1";
    let Some(found) = completed("zsh", program) else { return };
    assert!(found.contains("solve p.toml --watch end") && found.contains("plot u --field residual end"), "{found}");
}

#[test]
fn fish_completes_commands_and_choices() {
    let Some(commands) = completed("fish", "source $SCRIPT; complete -C 'ddelm so'") else { return };
    assert!(commands.starts_with("solve\tSolve a problem"), "{commands}");
    let fields = completed("fish", "source $SCRIPT; complete -C 'ddelm plot u --field '").unwrap();
    assert!(fields.contains("residual") && fields.contains("flux"), "{fields}");
}
