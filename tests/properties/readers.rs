//! Readers of what people, models and disks hand in: an answer or an error, never a panic.

use proptest::prelude::*;
use selfsmith_agent::approve::dangers;
use selfsmith_agent::config::{self, Sources};
use selfsmith_agent::redact::Redactor;
use selfsmith_agent::session::Log;
use selfsmith_agent::tool::paths::{Purpose, Workspace};
use std::fs;
use std::path::Path;

/// Text with what shells and YAML give a meaning to.
fn marked() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z ]{0,6}",
        "[\"'`$(){}<>|&;#~*?\\\\:,\\[\\]-]{1,4}",
        "\\PC{0,4}",
        Just("\n".to_owned()),
        Just("<<EOF\n".to_owned()),
        Just("\u{0}".to_owned()),
        Just("model: ".to_owned()),
        Just("rm -rf ".to_owned()),
    ];
    proptest::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_command_line_is_judged(line in marked()) {
        let _ = dangers(&line, Path::new("/work"), Some(Path::new("/home/me")));
    }

    #[test]
    fn any_settings_are_read_or_refused_with_their_place(text in marked()) {
        let folder = tempfile::tempdir().expect("a folder");
        let user = folder.path().join("config.yaml");
        fs::write(&user, &text).expect("a file");
        let sources = Sources {
            flags: Vec::new(),
            environment: std::collections::BTreeMap::new(),
            start: folder.path().to_owned(),
            user: Some(user),
            shipped: None,
            trust: config::Trust::default(),
        };
        if let Err(error) = config::load(&sources) {
            prop_assert!(!error.to_string().is_empty() && !error.hint().is_empty());
        }
    }

    #[test]
    fn any_path_stays_inside_or_is_refused(written in prop_oneof![marked(), "(\\.\\./|/|~|a|\\.|\\\\| ){0,8}"]) {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("a")).expect("a folder");
        std::os::unix::fs::symlink("/etc", folder.path().join("out")).expect("a link");
        let workspace = Workspace::new(folder.path());
        for purpose in [Purpose::Look, Purpose::Edit, Purpose::Write, Purpose::Create] {
            for written in [written.clone(), format!("out/{written}"), format!("a/{written}")] {
                if let Ok(place) = workspace.resolve(&written, purpose) {
                    prop_assert!(place.absolute.starts_with(workspace.root()), "{written:?}: {place:?}");
                }
            }
        }
    }

    #[test]
    fn any_record_of_a_session_is_read_or_refused(noise in proptest::collection::vec(any::<u8>(), 0..80), cut in 0_usize..400) {
        let folder = tempfile::tempdir().expect("a folder");
        let log = Log::create(folder.path(), "s", Redactor::new(Vec::new())).expect("a record");
        let path = log.path().to_owned();
        drop(log);
        let mut bytes = fs::read(&path).expect("a record");
        bytes.truncate(cut.max(1));
        bytes.extend(noise);
        fs::write(&path, &bytes).expect("a record");
        if let Err(error) = Log::open(&path, Redactor::new(Vec::new())) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
