//! Seccomp: system calls that no build, test or tool needs and that lead out of walls.
//!
//! A deny list, because an allow list breaks with every new C library; what must not be reachable at all is kept away by
//! namespaces.

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};
use std::collections::BTreeMap;

/// Which sockets may be opened, besides UNIX ones and the kernel's routing table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// TCP and UDP as well.
    Internet,
    /// No others.
    Local,
}

/// Refused whatever their arguments.
const REFUSED: [libc::c_long; 35] = [
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];
/// Said not to exist, so that programs take their older ways: clone3 hides its flags from a filter.
const UNKNOWN: [libc::c_long; 4] =
    [libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];
/// Namespaces that clone(2) could make.
const NEW_NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];
/// Typing into a terminal in a person's place (ioctl_tty(2)), and the console's copy and paste.
const TYPING: [u64; 2] = [0x5412, 0x541C];

/// Refuses them to the calling process for good; it must have given up new privileges.
pub(crate) fn refuse(sockets: Sockets) -> Result<(), String> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
    let refused = filter(refused(sockets)?, libc::EPERM, architecture)?;
    let unknown = UNKNOWN.iter().map(|call| (*call, Vec::new())).collect();
    let unknown = filter(unknown, libc::ENOSYS, architecture)?;
    let mut programs = vec![refused, unknown];
    if cfg!(target_arch = "x86_64") {
        programs.push(no_second_table());
    }
    programs.iter().try_for_each(|program| apply_filter(program).map_err(|error| error.to_string()))
}

/// Refuses what reaches other processes of the same user, for those who see them: their limits, and the priority of all
/// of a user's at once. Signals and memory are Landlock's. Affinity and priority of one process stay: by the same calls a
/// program speaks of its own threads, and a filter cannot tell them.
pub(crate) fn refuse_others() -> Result<(), String> {
    use SeccompCmpOp::{Eq, Ne};
    // setpriority(2), ioprio_set(2).
    const PRIO_USER: u64 = 2;
    const IOPRIO_WHO_USER: u64 = 3;
    let limits = vec![
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, Ne, 0),
        // A pointer: without one the limits are only asked for.
        SeccompCondition::new(2, SeccompCmpArgLen::Qword, Ne, 0),
    ];
    let limits = limits.into_iter().collect::<Result<_, _>>().and_then(SeccompRule::new);
    let rules = [
        (libc::SYS_prlimit64, vec![limits.map_err(|error| error.to_string())?]),
        (libc::SYS_setpriority, vec![rule(&[(0, Eq, PRIO_USER)])?]),
        (libc::SYS_ioprio_set, vec![rule(&[(0, Eq, IOPRIO_WHO_USER)])?]),
    ];
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
    let program = filter(rules.into_iter().collect(), libc::EPERM, architecture)?;
    apply_filter(&program).map_err(|error| error.to_string())
}

fn filter(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: i32, architecture: TargetArch) -> Result<BpfProgram, String> {
    let refusal = SeccompAction::Errno(errno.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refusal, architecture);
    filter.and_then(BpfProgram::try_from).map_err(|error| error.to_string())
}

fn refused(sockets: Sockets) -> Result<BTreeMap<i64, Vec<SeccompRule>>, String> {
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let namespaces = NEW_NAMESPACES.map(|flag| u64::from(flag.unsigned_abs()));
    let clones = namespaces.into_iter().map(|flag| rule(&[(0, MaskedEq(flag), flag)]));
    rules.insert(libc::SYS_clone, clones.collect::<Result<_, _>>()?);
    let typing = TYPING.into_iter().map(|request| rule(&[(1, Eq, request)]));
    rules.insert(libc::SYS_ioctl, typing.collect::<Result<_, _>>()?);
    // A lease on a file that one may only read holds up everybody else who opens it.
    let lease = u64::from(libc::F_SETLEASE.unsigned_abs());
    rules.insert(libc::SYS_fcntl, vec![rule(&[(1, Eq, lease)])?]);
    let number = |family: libc::c_int| u64::from(family.unsigned_abs());
    let netlink = number(libc::AF_NETLINK);
    let mut families = vec![number(libc::AF_UNIX), netlink];
    if sockets == Sockets::Internet {
        families.extend([number(libc::AF_INET), number(libc::AF_INET6)]);
    }
    let others: Vec<_> = families.into_iter().map(|family| (0, Ne, family)).collect();
    let routes = u64::from(libc::NETLINK_ROUTE.unsigned_abs());
    rules.insert(libc::SYS_socket, vec![rule(&others)?, rule(&[(0, Eq, netlink), (2, Ne, routes)])?]);
    rules.insert(libc::SYS_socketpair, vec![rule(&[(0, Ne, number(libc::AF_UNIX))])?]);
    Ok(rules)
}

/// Matches a call whose arguments (number, comparison, value) are all so.
fn rule(arguments: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, String> {
    let conditions = arguments.iter().map(|(number, comparison, value)| {
        SeccompCondition::new(*number, SeccompCmpArgLen::Dword, comparison.clone(), *value)
    });
    conditions.collect::<Result<_, _>>().and_then(SeccompRule::new).map_err(|error| error.to_string())
}

/// x86-64 has a second table of the same calls under other numbers (x32, from bit 30): none of it is needed.
fn no_second_table() -> BpfProgram {
    const NUMBER_AT: u32 = 0;
    const FIRST: u32 = 0x4000_0000;
    let statement = |code: u32, k: u32, jt: u8| sock_filter { code: code as u16, jt, jf: 0, k };
    vec![
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, NUMBER_AT, 0),
        sock_filter { jf: 1, ..statement(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, FIRST, 0) },
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs(), 0),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0),
    ]
}
