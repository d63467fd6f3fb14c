//! The walls that can stand around a process, by name.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wall {
    /// User namespace: what makes the others possible without being root.
    UserNamespace,
    /// Mount namespace and a root of its own.
    MountNamespace,
    /// PID namespace with its own `/proc`.
    PidNamespace,
    /// Network namespace with nothing but loopback.
    NetNamespace,
    /// System V IPC, POSIX queues and host name of its own.
    IpcNamespace,
    /// Overlay file systems.
    Overlay,
    /// A real other user, without capabilities.
    UserDrop,
    /// Landlock: which files may be written.
    Landlock,
    /// Seccomp: which system calls are refused.
    Seccomp,
}

impl Wall {
    /// All of them, in the order in which they are put up.
    pub const ALL: [Self; 9] = [
        Self::UserNamespace,
        Self::NetNamespace,
        Self::IpcNamespace,
        Self::PidNamespace,
        Self::MountNamespace,
        Self::Overlay,
        Self::UserDrop,
        Self::Landlock,
        Self::Seccomp,
    ];

    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::UserNamespace => "user namespace",
            Self::MountNamespace => "mount namespace",
            Self::PidNamespace => "PID namespace",
            Self::NetNamespace => "network namespace",
            Self::IpcNamespace => "IPC namespace",
            Self::Overlay => "overlay file system",
            Self::UserDrop => "unprivileged user",
            Self::Landlock => "Landlock",
            Self::Seccomp => "seccomp",
        }
    }

    /// What is open to the agent's commands where it is missing, as a sentence without its stop.
    pub fn open_without(self) -> &'static str {
        match self {
            Self::UserNamespace | Self::MountNamespace => {
                "commands can change .git/hooks, .git/config, .selfsmith and the modes of files elsewhere, read keys \
                 (~/.ssh), and reach sockets of other programs"
            }
            Self::NetNamespace => "nothing: commands have no internet sockets at all, not even for loopback",
            Self::IpcNamespace => "commands reach shared memory of other programs",
            Self::PidNamespace | Self::Overlay => "nothing: commands do not stand behind it",
            Self::UserDrop => "commands keep powers that this program has",
            Self::Landlock => {
                "commands can signal other programs and, where mounts do not stop them, write outside of the workspace"
            }
            Self::Seccomp => "commands can open sockets of every kind and change limits of other programs",
        }
    }

    /// What can be done where it is missing.
    pub fn hint(self) -> &'static str {
        match self {
            Self::UserNamespace
            | Self::MountNamespace
            | Self::PidNamespace
            | Self::NetNamespace
            | Self::IpcNamespace => {
                "Allow user namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0), \
                 run as root, or accept a weaker room."
            }
            Self::Overlay => "Use a kernel of 5.11 or later and an upper folder on ext4, xfs or tmpfs.",
            Self::UserDrop => "Run as root with all capabilities, or as an ordinary user.",
            Self::Landlock => "Boot a kernel of 5.13 or later with `landlock` in its lsm= list.",
            Self::Seccomp => "Boot a kernel with seccomp filters on x86-64, AArch64 or RISC-V.",
        }
    }
}

/// A wall that was asked for and does not stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingWall {
    /// Which.
    pub wall: Wall,
    /// Why not, or what of it is missing.
    pub why: String,
}

impl fmt::Display for MissingWall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.wall, self.why)
    }
}

impl fmt::Display for Wall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
