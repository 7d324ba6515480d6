//! Which elements and attributes MJCF has, so that a slip of the pen is an error that names the right word.

use super::parts::Tree;
use crate::error::Error;
use crate::robot::xml::Element;
use crate::words;

/// What an element is, where the same name means different things in different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Its attributes and elements are those of the table.
    Known(&'static Rule),
    /// It does not act on motion, or it is reported as a whole: what is in it is not looked at.
    Unread,
}

/// Attributes and elements of an element, with spaces between them.
#[derive(Debug, PartialEq, Eq)]
struct Rule {
    attributes: &'static str,
    /// Elements that are looked into.
    children: &'static [(&'static str, &'static Rule)],
    /// Elements that are not.
    unread: &'static str,
}

impl Rule {
    const fn leaf(attributes: &'static str) -> Self {
        Self { attributes, children: &[], unread: "" }
    }

    fn child(&self, name: &str) -> Option<Kind> {
        let known = self.children.iter().find(|(child, _)| *child == name).map(|(_, rule)| Kind::Known(rule));
        known.or_else(|| self.unread.split(' ').any(|child| child == name).then_some(Kind::Unread))
    }
}

/// Refuses elements and attributes that MJCF does not have.
pub(super) fn check(tree: &Tree<'_>) -> Result<(), Error> {
    let mut waiting = vec![(tree.root(), &MUJOCO)];
    while let Some((element, rule)) = waiting.pop() {
        check_attributes(element, rule)?;
        for child in tree.children(element) {
            match rule.child(child.name()) {
                Some(Kind::Known(rule)) => waiting.push((child, rule)),
                Some(Kind::Unread) => {}
                None => return Err(unknown_element(element, child, rule)),
            }
        }
    }
    Ok(())
}

fn check_attributes(element: Element<'_>, rule: &Rule) -> Result<(), Error> {
    let known = || rule.attributes.split(' ').filter(|name| !name.is_empty());
    match element.attributes().find(|&name| !known().any(|attribute| attribute == name)) {
        None => Ok(()),
        Some(unknown) => {
            let names: Vec<&str> = known().collect();
            let sentence = format!("its attributes are {}", words::list(&names));
            let what = format!("`<{}>` has no attribute {}", element.name(), words::quoted(unknown));
            Err(element.error_at(unknown, what, words::suggest(unknown, names.iter().copied(), sentence)))
        }
    }
}

fn unknown_element(parent: Element<'_>, child: Element<'_>, rule: &Rule) -> Error {
    let known = rule.children.iter().map(|(name, _)| *name);
    let names: Vec<&str> = known.chain(rule.unread.split(' ').filter(|name| !name.is_empty())).collect();
    let sentence = format!("its elements are {}", words::list(&names));
    let what =
        format!("`<{}>` has no element `<{}>`", parent.name(), words::quoted(child.name()).trim_matches('`'));
    child.error(what, words::suggest(child.name(), names.iter().copied(), sentence))
}

static MUJOCO: Rule = Rule {
    attributes: "model",
    children: &[
        ("compiler", &COMPILER),
        ("option", &OPTION),
        ("default", &DEFAULT),
        ("asset", &ASSET),
        ("worldbody", &WORLD),
        ("contact", &CONTACT),
        ("tendon", &TENDON),
        ("actuator", &ACTUATOR),
        ("equality", &EQUALITY),
        ("keyframe", &KEYFRAME),
        ("deformable", &DEFORMABLE),
    ],
    unread: "size statistic visual extension sensor custom",
};

static COMPILER: Rule = Rule {
    attributes: "autolimits boundmass boundinertia settotalmass balanceinertia strippath coordinate angle fitaabb \
                 eulerseq meshdir texturedir discardvisual usethread fusestatic inertiafromgeom inertiagrouprange \
                 saveinertial assetdir alignfree conflict convexhull exactmeshinertia",
    children: &[],
    unread: "lengthrange",
};

static OPTION: Rule = Rule {
    attributes: "timestep impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance sleep_tolerance gravity wind \
                 magnetic density viscosity o_margin o_solref o_solimp o_friction integrator cone jacobian solver \
                 iterations ls_iterations noslip_iterations ccd_iterations sdf_iterations sdf_initpoints \
                 actuatorgroupdisable apirate collision mpr_tolerance mpr_iterations",
    children: &[("flag", &FLAG)],
    unread: "",
};

static FLAG: Rule = Rule::leaf(
    "constraint equality frictionloss limit contact spring damper passive gravity clampctrl warmstart filterparent \
     actuation refsafe sensor midphase eulerdamp autoreset nativeccd island multiccd override energy fwdinv \
     invdiscrete sleep diagexact sensornoise",
);

static DEFAULT: Rule = Rule {
    attributes: "class",
    children: &[
        ("default", &DEFAULT),
        ("mesh", &MESH),
        ("material", &MATERIAL),
        ("joint", &JOINT),
        ("geom", &GEOM),
        ("site", &SITE),
        ("tendon", &TENDON_DEFAULT),
        ("general", &GENERAL),
        ("motor", &MOTOR),
        ("position", &POSITION),
        ("velocity", &VELOCITY),
        ("damper", &VELOCITY),
    ],
    unread: "camera light pair equality intvelocity orientation pid cylinder muscle adhesion dcmotor",
};

static ASSET: Rule = Rule {
    attributes: "",
    children: &[("mesh", &MESH), ("material", &MATERIAL)],
    unread: "hfield skin texture model",
};

static MESH: Rule = Rule {
    attributes: "name class content_type file vertex normal texcoord face refpos refquat scale smoothnormal maxhullvert \
                 inertia builtin params material",
    children: &[],
    unread: "plugin",
};

static MATERIAL: Rule = Rule {
    attributes: "name class texture texrepeat texuniform emission specular shininess reflectance metallic roughness rgba",
    children: &[],
    unread: "layer",
};

static WORLD: Rule = Rule { attributes: "", children: &IN_BODIES, unread: UNREAD_IN_BODIES };

static BODY: Rule = Rule {
    attributes: "name childclass pos quat axisangle xyaxes zaxis euler mocap gravcomp sleep simple user",
    children: &IN_BODIES,
    unread: UNREAD_IN_BODIES,
};

static FRAME: Rule = Rule {
    attributes: "name childclass pos quat axisangle xyaxes zaxis euler",
    children: &IN_BODIES,
    unread: UNREAD_IN_BODIES,
};

static IN_BODIES: [(&str, &Rule); 7] = [
    ("body", &BODY),
    ("frame", &FRAME),
    ("inertial", &INERTIAL),
    ("joint", &JOINT),
    ("freejoint", &FREE_JOINT),
    ("geom", &GEOM),
    ("site", &SITE),
];

const UNREAD_IN_BODIES: &str = "camera light replicate attach plugin composite flexcomp";

static INERTIAL: Rule = Rule::leaf("pos quat mass diaginertia axisangle xyaxes zaxis euler fullinertia");

static JOINT: Rule = Rule::leaf(
    "name class type group pos axis springdamper limited actuatorfrclimited solreflimit solimplimit solreffriction \
     solimpfriction stiffness range actuatorfrcrange actuatorgravcomp margin ref springref armature damping \
     frictionloss user",
);

static FREE_JOINT: Rule = Rule::leaf("name group align");

static GEOM: Rule = Rule {
    attributes: "name class type contype conaffinity condim group priority size material friction mass density \
                 shellinertia solmix solref solimp margin gap surfacevel adhesion fromto pos quat axisangle xyaxes \
                 zaxis euler hfield mesh fitscale rgba fluidshape fluidcoef user",
    children: &[],
    unread: "plugin",
};

static SITE: Rule =
    Rule::leaf("name class type group pos quat axisangle xyaxes zaxis euler material size fromto rgba user");

static CONTACT: Rule =
    Rule { attributes: "", children: &[("pair", &PAIR), ("exclude", &EXCLUDE)], unread: "" };

static PAIR: Rule =
    Rule::leaf("name class geom1 geom2 condim friction solref solreffriction solimp gap margin adhesion");

static EXCLUDE: Rule = Rule::leaf("name body1 body2");

static TENDON: Rule = Rule { attributes: "", children: &[("fixed", &FIXED)], unread: "spatial" };

static FIXED: Rule = Rule {
    attributes: "name class group limited actuatorfrclimited range actuatorfrcrange solreflimit solimplimit \
                 solreffriction solimpfriction frictionloss springlength margin stiffness damping armature user",
    children: &[("joint", &FIXED_JOINT)],
    unread: "",
};

static FIXED_JOINT: Rule = Rule::leaf("joint coef");

static TENDON_DEFAULT: Rule = Rule::leaf(
    "group limited actuatorfrclimited range actuatorfrcrange solreflimit solimplimit solreffriction solimpfriction \
     frictionloss springlength width material margin stiffness damping armature rgba user",
);

static ACTUATOR: Rule = Rule {
    attributes: "",
    children: &[
        ("general", &GENERAL),
        ("motor", &MOTOR),
        ("position", &POSITION),
        ("velocity", &VELOCITY),
        ("damper", &VELOCITY),
    ],
    unread: "intvelocity orientation pid cylinder muscle adhesion dcmotor plugin",
};

static GENERAL: Rule = Rule::leaf(
    "name class group nsample interp delay ctrlrange user ctrllimited forcelimited actlimited forcerange actrange \
     lengthrange gear damping armature cranklength joint jointinparent tendon slidersite cranksite site refsite body \
     actdim input velrange ffrange dyntype gaintype biastype dynprm gainprm biasprm actearly",
);

static MOTOR: Rule = Rule::leaf(
    "name class group nsample interp delay ctrlrange user ctrllimited forcelimited forcerange lengthrange gear damping \
     armature cranklength joint jointinparent tendon slidersite cranksite site refsite",
);

static POSITION: Rule = Rule::leaf(
    "name class group nsample interp delay ctrlrange user ctrllimited forcelimited inheritrange forcerange lengthrange \
     gear damping armature cranklength joint jointinparent tendon slidersite cranksite site refsite kp kv dampratio \
     timeconst",
);

static VELOCITY: Rule = Rule::leaf(
    "name class group nsample interp delay ctrlrange user ctrllimited forcelimited forcerange lengthrange gear damping \
     armature cranklength joint jointinparent tendon slidersite cranksite site refsite kv",
);

static EQUALITY: Rule = Rule {
    attributes: "",
    children: &[],
    unread: "connect weld joint tendon flex flexvert flexstrain distance",
};

static DEFORMABLE: Rule = Rule { attributes: "", children: &[], unread: "flex skin" };

static KEYFRAME: Rule = Rule { attributes: "", children: &[("key", &KEY)], unread: "" };

static KEY: Rule = Rule::leaf("name time qpos qvel act ctrl mpos mquat");
