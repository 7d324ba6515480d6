//! `pullback check`: is the gradient of a problem right, and is it of use?

use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use pullback_report::human;
use pullback_solve::Problem;
use pullback_solve::check::{Agreement, Health, MOST_AUDITED, check_some};

use crate::quality::flat;
use crate::{DONE, FAILED, Where, folder, load, page, say};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    place: Where,
    /// Compare at most so many derivatives with differences, spread over all variables
    #[arg(long, default_value_t = MOST_AUDITED, value_name = "NUMBER")]
    most: usize,
}

pub fn run(arguments: &Arguments) -> Result<u8> {
    let mut problem = Problem::new(load::problem(&arguments.place.file)?)?;
    arguments.place.device.take(&mut problem)?;
    let z = problem.variables().start();
    let name = problem.description().scene.name.clone();
    let bar = bar(&name);
    let health = check_some(&mut problem, &z, arguments.most, &mut |done, of| {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    })?;
    bar.finish_and_clear();
    let Where { out, replace, .. } = &arguments.place;
    let folder = folder::open(&format!("{name}-check"), out.as_deref(), *replace, folder::nothing_else)?;
    page::write_checked(&folder, &mut problem, &health)?;
    print(&name, &problem, &health);
    say!("report: {}", folder.path().join(page::FILE).display());
    let wrong = health.audit.iter().any(|audit| audit.agreement() == Agreement::Wrong);
    Ok(if wrong { FAILED } else { DONE })
}

/// Derivatives that have been compared, on a terminal; elsewhere nothing.
fn bar(name: &str) -> ProgressBar {
    let template = "{prefix} {wide_bar} {pos}/{len} derivatives compared  {eta}";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style).with_prefix(name.to_owned())
}

fn print(name: &str, problem: &Problem, health: &Health) {
    say!("{name}: loss {}", human(health.value));
    let all_zero = health.is_flat();
    let worst = health.audit.iter().max_by(|a, b| a.error.total_cmp(&b.error));
    if all_zero {
        say!(
            "gradient: ZERO: {} and all differences are exactly 0: {}",
            page::counted(health.audit.len(), "derivative"),
            flat(problem)
        );
    } else if let Some(worst) = worst {
        let verdict = worst.agreement();
        say!(
            "gradient: {verdict}: {} against finite differences, the worst by {}: {:.8e}, {:.8e}, relative error {:.1e}",
            page::counted(health.audit.len(), "derivative"),
            worst.name,
            worst.derivative,
            worst.difference,
            worst.error
        );
    }
    health.zeros.iter().for_each(|(name, why)| say!("zero: {name}: {why}"));
    if !all_zero {
        say!("reach: {}", health.reach);
    }
    let e = &health.energy;
    let what = if e.conserved { "should be kept" } else { "is not kept by these forces" };
    say!("energy: {what}; it changes by {} J, {:.2e} of its scale", human(e.drift), e.relative);
    say!("growth: {}", health.growth);
}
