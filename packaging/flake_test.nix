# Evaluates flake.nix with a small nixpkgs of our own in place of the real one. Returns what each package would
# be built from.
let
  pkgs = {
    installShellFiles = "installShellFiles";
    lib.licenses.mit = "MIT";
    rustPlatform.buildRustPackage =
      arguments:
      assert builtins.pathExists arguments.cargoLock.lockFile;
      assert arguments.nativeBuildInputs == [ pkgs.installShellFiles ];
      assert arguments.meta.license == "MIT";
      "${arguments.pname} ${arguments.version}";
  };
  systems = [
    "x86_64-linux"
    "aarch64-linux"
    "x86_64-darwin"
    "aarch64-darwin"
  ];
  attributesOf =
    names: value:
    builtins.listToAttrs (
      map (name: {
        inherit name;
        value = value name;
      }) names
    );
  nixpkgs = {
    lib.genAttrs = attributesOf;
    legacyPackages = attributesOf systems (_: pkgs);
  };
in
((import ../flake.nix).outputs {
  self = ../.;
  inherit nixpkgs;
}).packages
