//! What is known of programs by their names and options, and of what stands around them in a line.

use super::super::shell::{Command, Line, Word};
use super::super::wrapper::{Unwrapped, is_shell, name, unwrap};

/// Programs whose names make an unreadable line suspicious.
const HARMFUL: [&str; 12] =
    ["rm", "dd", "mkfs", "shred", "wipefs", "sudo", "curl", "wget", "chmod", "chown", "reboot", "shutdown"];

/// The commands before one in its pipe.
pub(super) fn before<'l>(line: &'l Line, command: &'l Command) -> impl Iterator<Item = &'l Command> {
    line.commands.iter().filter(move |other| match (other.pipe, command.pipe) {
        (Some((pipe, place)), Some((own, end))) => pipe == own && place < end,
        _ => false,
    })
}

/// Whether what it reads comes from the network, or was made unreadable on its way.
pub(super) fn has_download(line: &Line, command: &Command) -> bool {
    before(line, command).any(|other| {
        unwrap(&other.words).iter().any(|unwrapped| match unwrapped {
            Unwrapped::Real(real) => real.words.first().is_some_and(|word| fetches(name(word), &real.words)),
            Unwrapped::Text(text) => downloads(text),
            Unwrapped::Unknown => true,
        })
    })
}

pub(super) fn fetches(name: &str, words: &[Word]) -> bool {
    let has = |option: &str| words.iter().any(|word| word.text() == option);
    match name {
        "curl" | "wget" | "fetch" | "aria2c" | "http" | "https" | "xh" | "lynx" | "nc" | "ncat" | "netcat"
        | "socat" | "ftp" => true,
        "base64" | "base32" => has("-d") || has("-D") || has("--decode"),
        "xxd" => has("-r") || has("-rp"),
        "openssl" => has("-d"),
        "gh" => has("api"),
        _ => false,
    }
}

/// Whether a text that is only known as it is written fetches something.
pub(super) fn downloads(text: &str) -> bool {
    let fetched = ["curl ", "wget ", "base64 -d", "base64 --decode", "/dev/tcp/"];
    (text.contains("$(") || text.contains('`') || text.contains("<(")) && fetched.iter().any(|word| text.contains(word))
}

pub(super) fn interprets(name: &str) -> bool {
    is_shell(name)
        || matches!(
            name,
            "source" | "." | "perl" | "ruby" | "node" | "deno" | "bun" | "php" | "lua" | "tclsh" | "osascript" | "pwsh"
        )
        || name.strip_prefix("python").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

pub(super) fn stops_system(name: &str, rest: &[Word]) -> bool {
    let has = |words: &[&str]| rest.iter().any(|word| words.contains(&word.text()));
    match name {
        "shutdown" | "reboot" | "halt" | "poweroff" => true,
        "init" | "telinit" => has(&["0", "1", "6"]),
        "systemctl" | "service" => {
            has(&["stop", "disable", "mask", "kill", "poweroff", "reboot", "halt", "restart", "isolate", "suspend"])
        }
        "iptables" | "nft" | "ufw" => has(&["-F", "--flush", "flush", "disable", "reset"]),
        "ip" => has(&["down", "del", "delete", "flush"]),
        "userdel" | "groupdel" | "passwd" | "usermod" | "visudo" | "swapoff" | "umount" | "rmmod" | "kexec" => true,
        _ => false,
    }
}

pub(super) fn writes_disk(name: &str) -> bool {
    name.starts_with("mkfs")
        || matches!(
            name,
            "wipefs"
                | "fdisk"
                | "sfdisk"
                | "cfdisk"
                | "gdisk"
                | "sgdisk"
                | "parted"
                | "partprobe"
                | "blkdiscard"
                | "mkswap"
                | "cryptsetup"
                | "hdparm"
                | "nvme"
                | "lvremove"
                | "vgremove"
                | "pvremove"
                | "zpool"
                | "mdadm"
                | "badblocks"
                | "losetup"
        )
}

pub(super) fn gives_secrets(name: &str, rest: &[Word]) -> bool {
    let has = |words: &[&str]| words.iter().all(|wanted| rest.iter().any(|word| word.text() == *wanted));
    match name {
        "gpg" | "gpg2" => rest.iter().any(|word| word.text().starts_with("--export-secret")),
        "security" => rest.iter().any(|word| word.text().starts_with("find-") || word.text().starts_with("dump-")),
        "gh" => has(&["auth", "token"]),
        "gcloud" => has(&["auth", "print-access-token"]),
        "aws" => has(&["configure", "get"]) || has(&["configure", "export-credentials"]),
        "pass" | "secret-tool" | "keyring" => has(&["show"]) || has(&["lookup"]) || has(&["get"]),
        _ => false,
    }
}

/// Whether a path looks like keys or passwords, in the workspace or anywhere.
pub(super) fn is_secret(text: &str) -> bool {
    let text = text.split_once('=').map_or(text, |(_, value)| value).trim_start_matches('@');
    let parts: Vec<String> = text.split('/').map(str::to_lowercase).collect();
    if crate::tool::looks_secret(&parts) {
        return true;
    }
    let ends =
        ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", ".config/gh/hosts.yml", ".docker/config.json", ".kube/config"];
    let holds =
        [".config/gcloud", ".password-store", ".local/share/keyrings", ".mozilla/firefox", ".aws/", ".ssh/", ".gnupg/"];
    ends.iter().any(|end| text.ends_with(end))
        || holds.iter().any(|part| text.contains(part))
        || (text.starts_with("/proc/") && text.ends_with("/environ"))
}

/// Arguments that are no options.
pub(super) fn plain_arguments(rest: &[Word]) -> Vec<&Word> {
    let mut only = false;
    let mut arguments = Vec::new();
    for word in rest {
        if !only && word.text() == "--" {
            only = true;
        } else if only || !word.text().starts_with('-') || word.text() == "-" {
            arguments.push(word);
        }
    }
    arguments
}

pub(super) fn harmful(text: &str) -> bool {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_' || c == '-'));
    words.into_iter().any(|word| HARMFUL.contains(&word) || word.starts_with("mkfs"))
}
