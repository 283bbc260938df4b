#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ddelm_fuzz::domain(data));
