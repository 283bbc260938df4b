//! stub
#[derive(Debug)]
pub struct FormulaError {
    pub hint: Option<String>,
}
impl std::fmt::Display for FormulaError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("")
    }
}
