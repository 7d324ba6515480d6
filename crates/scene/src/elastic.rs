//! How stiff soft matter is, and the laws that it follows.

use std::fmt;
use std::str::FromStr;

use crate::check::Number;
use crate::error::Invalid;
use crate::names::choose;

/// Stiffness of soft matter that is alike in all directions: Lamé's parameters.
///
/// ```
/// use pullback_scene::Elastic;
///
/// let rubber = Elastic::of_young(1e6, 0.25)?;
/// assert_eq!(rubber, Elastic { mu: 4e5, lambda: 4e5 });
/// assert!(Elastic::of_young(1e6, 0.5).is_err());
/// # Ok::<(), pullback_scene::Invalid>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elastic {
    /// Shear modulus mu [Pa].
    pub mu: f64,
    /// Lamé's first parameter lambda [Pa]; of a sheet, that of plane stress.
    pub lambda: f64,
}

impl Elastic {
    /// A solid's, from Young's modulus E [Pa] and Poisson's ratio ν:  mu = E / (2 (1 + ν)),
    /// lambda = E ν / ((1 + ν) (1 - 2ν)).
    ///
    /// # Errors
    ///
    /// At `young` or `poisson`: E is above zero, and ν above -1 and below 0.5.
    pub fn of_young(young: f64, poisson: f64) -> Result<Self, Invalid> {
        let why = "from 0.5 on it resists being compressed without bound";
        Self::new(young, poisson, (0.5, why), young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)))
    }

    /// A sheet's, which is free to become thinner (plane stress), from Young's modulus E [Pa] and Poisson's ratio ν:
    /// mu = E / (2 (1 + ν)),  lambda = E ν / (1 - ν²). Rubber with ν = 0.5 is allowed.
    ///
    /// # Errors
    ///
    /// At `young` or `poisson`: E is above zero, and ν above -1 and below 1.
    pub fn of_young_in_plane(young: f64, poisson: f64) -> Result<Self, Invalid> {
        let why = "from 1 on the sheet resists a change of its area without bound";
        Self::new(young, poisson, (1.0, why), young * poisson / (1.0 - poisson * poisson))
    }

    fn new(young: f64, poisson: f64, (most, why): (f64, &str), lambda: f64) -> Result<Self, Invalid> {
        Number::positive("Young modulus", "Pa").check("young", young)?;
        Number::any("Poisson's ratio", "1").check("poisson", poisson)?;
        if poisson <= -1.0 || poisson >= most {
            let why = if poisson < 0.0 { "at -1 and below it does not resist being compressed" } else { why };
            let what = format!("Poisson's ratio is {poisson}: {why}");
            let fix = format!("give a ratio above -1 and below {most}, such as 0.3 or, for rubber, 0.49");
            return Err(Invalid::new("poisson", what, fix));
        }
        let elastic = Self { mu: young / (2.0 * (1.0 + poisson)), lambda };
        if !elastic.mu.is_finite() || !elastic.lambda.is_finite() {
            let what = format!("{young} Pa with Poisson's ratio {poisson} is stiffer than any number");
            return Err(Invalid::new("young", what, "give a smaller modulus"));
        }
        Ok(elastic)
    }
}

/// The least actuation of solids that are not neo-Hookean: they measure lengths by the third root of the volume that is wanted, 1 + a.
pub const LEAST_ACTUATION: f64 = -0.999;

/// The law of a soft solid: its energy, of which forces are the slope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SolidMaterial {
    /// `neo-hookean`: for large strains; it comes back from being turned inside out (Smith, de Goes and Kim 2018).
    #[default]
    NeoHookean,
    /// `st-venant-kirchhoff`: the linear law in Green's strain. It gives way when it is compressed to about a half.
    StVenantKirchhoff,
    /// `corotated`: the linear law in a frame that turns with each element.
    Corotated,
}

impl SolidMaterial {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::NeoHookean, Self::StVenantKirchhoff, Self::Corotated];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::NeoHookean => "neo-hookean",
            Self::StVenantKirchhoff => "st-venant-kirchhoff",
            Self::Corotated => "corotated",
        }
    }
}

impl fmt::Display for SolidMaterial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SolidMaterial {
    type Err = Invalid;

    fn from_str(name: &str) -> Result<Self, Invalid> {
        choose("elastic material", name, &Self::ALL.map(|material| (material.name(), material)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bar that is pulled along x with stress E e becomes thinner by ν e: Hooke's law with Lamé's parameters.
    #[test]
    fn bars_and_strips_that_are_pulled() {
        for (young, poisson) in [(2e5, 0.3), (7.0, -0.4), (1e9, 0.49), (3.0, 0.0)] {
            let Elastic { mu, lambda } = Elastic::of_young(young, poisson).expect("matter");
            let strain = [1.0, -poisson, -poisson];
            let trace: f64 = strain.iter().sum();
            let stress = strain.map(|e| 2.0 * mu * e + lambda * trace);
            assert!((stress[0] / young - 1.0).abs() < 1e-12, "{stress:?}");
            assert!((stress[1] / young).abs() < 1e-12, "{stress:?}");
            let Elastic { mu, lambda } = Elastic::of_young_in_plane(young, poisson).expect("matter");
            let stress = [1.0, -poisson].map(|e| 2.0 * mu * e + lambda * (1.0 - poisson));
            assert!((stress[0] / young - 1.0).abs() < 1e-12, "{stress:?}");
            assert!((stress[1] / young).abs() < 1e-12, "{stress:?}");
        }
    }

    #[test]
    fn impossible_matter() {
        let path = |young, poisson| Elastic::of_young(young, poisson).expect_err("impossible").path;
        for poisson in [0.5, 0.7, -1.0, -3.0, f64::NAN] {
            assert_eq!(path(1e5, poisson), "poisson");
        }
        for young in [0.0, -1.0, f64::INFINITY] {
            assert_eq!(path(young, 0.3), "young");
        }
        assert_eq!(path(1e308, 0.499), "young");
        assert!(Elastic::of_young_in_plane(1e5, 0.5).is_ok());
        assert!(Elastic::of_young_in_plane(1e5, 1.0).is_err());
        let why = Elastic::of_young(1e5, 0.5).expect_err("impossible").what;
        assert!(why.contains("without bound"), "{why}");
        let why = Elastic::of_young(1e5, -1.0).expect_err("impossible").what;
        assert!(why.contains("does not resist"), "{why}");
    }

    #[test]
    fn every_material_by_name() {
        for material in SolidMaterial::ALL {
            assert_eq!(material.to_string().parse(), Ok(material));
        }
        let fix = "neo-hokean".parse::<SolidMaterial>().expect_err("a slip").fix;
        assert!(fix.starts_with("did you mean `neo-hookean`?"), "{fix}");
    }
}
