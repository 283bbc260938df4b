//! How much memory there is, and whether a solve fits into it.
//!
//! A system that has promised too much memory ends the process that uses it, or another one, without a word. So a solve
//! whose [cost](crate::method::cost) is more than there is does not start. What there is: the least of the memory that the system
//! has available, that the control groups of the process (containers, batch jobs) leave it, and that its own limit on
//! addresses leaves it; and on top of that what the process holds already, for a later solve takes the place of an
//! earlier one.
//!
//! # References
//! Linux: `proc(5)` (`meminfo`, `self/status`, `self/limits`, `self/cgroup`), and the kernel's documentation of the memory
//! controllers of control groups, versions 1 and 2.

use std::fs;
use std::path::{Path, PathBuf};

use crate::base::error::{Error, Result};

/// Bytes that this process could hold, where the system tells.
pub fn available() -> Option<u64> {
    if cfg!(target_family = "wasm") {
        // There is no system to ask. Addresses have 32 bits, and what is there already has a share of them.
        return Some(3 << 30);
    }
    System { root: Path::new("/") }.available()
}

/// What fits anywhere, in bytes.
const SMALL: f64 = 32e6;

/// Refuses what takes more than `most` bytes, or, where that is not given, more than there are [`available`].
///
/// `key` is the setting to blame.
pub fn check(key: &'static str, needed: f64, most: Option<u64>) -> Result<()> {
    // To ask the system takes as long as a small solve.
    if most.is_none() && needed < SMALL {
        return Ok(());
    }
    match most.or_else(available) {
        // Also where the sizes are so large that the cost is no number.
        Some(available) if needed.is_nan() || needed > available as f64 => {
            Err(Error::Memory { key, needed: needed as u64, available, given: most.is_some() })
        }
        _ => Ok(()),
    }
}

/// The files in which the system tells about itself.
struct System<'a> {
    root: &'a Path,
}

/// The name of a control group's directory for memory, and the files in it: limit, use, and the entry of `memory.stat` with
/// what can be taken back at any time.
struct Controller {
    mount: &'static str,
    limit: &'static str,
    usage: &'static str,
    cache: &'static str,
}

const VERSION_1: Controller = Controller {
    mount: "sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    cache: "total_inactive_file",
};
const VERSION_2: Controller =
    Controller { mount: "sys/fs/cgroup", limit: "memory.max", usage: "memory.current", cache: "inactive_file" };

impl System<'_> {
    fn available(&self) -> Option<u64> {
        let meminfo = self.read("proc/meminfo").and_then(|text| kibibytes(&text, "MemAvailable:"));
        let free = [meminfo, self.control_groups(), self.addresses()].into_iter().flatten().min()?;
        let held = self.read("proc/self/status").and_then(|text| kibibytes(&text, "VmRSS:")).unwrap_or(0);
        Some(free.saturating_add(held))
    }

    fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok()
    }

    /// What the tightest of the groups of this process leaves.
    fn control_groups(&self) -> Option<u64> {
        // Lines are `number:controllers:path`; version 2 has one with number 0 and no controllers.
        let text = self.read("proc/self/cgroup")?;
        let rooms = text.lines().flat_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, group) = (parts.next().unwrap_or(""), parts.next().unwrap_or("/"));
            match controllers {
                "" => self.rooms(&VERSION_2, group),
                list if list.split(',').any(|name| name == "memory") => self.rooms(&VERSION_1, group),
                _ => Vec::new(),
            }
        });
        rooms.min()
    }

    /// What a group and those around it leave. Inside a container the path may be that of the host: then the mount itself
    /// is the group.
    fn rooms(&self, controller: &Controller, group: &str) -> Vec<u64> {
        let group = PathBuf::from(group.trim_start_matches('/'));
        group.ancestors().filter_map(|group| self.room(controller, &Path::new(controller.mount).join(group))).collect()
    }

    fn room(&self, controller: &Controller, directory: &Path) -> Option<u64> {
        let number = |name: &str| self.read(directory.join(name))?.trim().parse::<u64>().ok();
        let (limit, usage) = (number(controller.limit)?, number(controller.usage)?);
        let stat = self.read(directory.join("memory.stat")).unwrap_or_default();
        let cache = stat.lines().find_map(|line| line.strip_prefix(controller.cache)?.trim().parse::<u64>().ok());
        Some(limit.saturating_sub(usage.saturating_sub(cache.unwrap_or(0))))
    }

    /// What the process's own limit leaves (`ulimit -v`).
    fn addresses(&self) -> Option<u64> {
        let limits = self.read("proc/self/limits")?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
        let limit = line.split_whitespace().next()?.parse::<u64>().ok()?;
        let used = self.read("proc/self/status").and_then(|text| kibibytes(&text, "VmSize:")).unwrap_or(0);
        Some(limit.saturating_sub(used))
    }
}

/// The number behind a name, in bytes; the files have it in units of 1024.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|count| count.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system of these files.
    fn system(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        System { root: root.path() }.available()
    }

    const MEMORY: (&str, &str) = ("proc/meminfo", "MemTotal:  900 kB\nMemAvailable:    800 kB\n");
    const STATUS: (&str, &str) = ("proc/self/status", "Name: x\nVmSize:\t  100 kB\nVmRSS:\t   20 kB\n");

    #[test]
    fn the_least_of_the_limits_counts() {
        assert_eq!(system(&[]), None);
        assert_eq!(system(&[MEMORY]), Some(800 * 1024));
        assert_eq!(system(&[MEMORY, STATUS]), Some(820 * 1024));
        let second = [
            ("proc/self/cgroup", "0::/job/part\n"),
            ("sys/fs/cgroup/job/part/memory.max", "max\n"),
            ("sys/fs/cgroup/job/part/memory.current", "1000\n"),
            ("sys/fs/cgroup/job/memory.max", "50000\n"),
            ("sys/fs/cgroup/job/memory.current", "9000\n"),
            ("sys/fs/cgroup/job/memory.stat", "anon 8000\ninactive_file 500\nactive_file 500\n"),
        ];
        assert_eq!(system(&[&[MEMORY], &second[..]].concat()), Some(50000 - 8500));
        let first = [
            ("proc/self/cgroup", "4:cpu,cpuacct:/\n3:memory:/host/only\n0::/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "70000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "90000\n"),
            ("sys/fs/cgroup/memory/memory.stat", "total_inactive_file 30000\n"),
        ];
        assert_eq!(system(&[&[MEMORY], &first[..]].concat()), Some(10000));
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax address space  204800  unlimited  bytes\n";
        assert_eq!(system(&[MEMORY, STATUS, ("proc/self/limits", limits)]), Some(204800 - 100 * 1024 + 20 * 1024));
        let none = limits.replace("204800", "unlimited");
        assert_eq!(system(&[MEMORY, ("proc/self/limits", &none)]), Some(800 * 1024));
    }

    #[test]
    fn what_is_too_large_is_refused_with_both_numbers() {
        assert!(check("discretization.points", 1e9, Some(1_000_000_000)).is_ok());
        for needed in [1.1e9, f64::INFINITY, f64::NAN] {
            let error = check("discretization.points", needed, Some(1_000_000_000)).unwrap_err();
            assert!(matches!(error, Error::Memory { given: true, .. }) && !error.is_input(), "{error}");
            assert!(error.to_string().contains("1.0 GB"), "{error}");
        }
        if available().is_some() {
            let error = check("discretization.points", 1e18, None).unwrap_err();
            assert!(error.hint().unwrap().contains("discretization.max_memory"), "{error}");
        }
    }
}
