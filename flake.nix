{
  description = "Memory for coding agents: linked notes in your repository, context in an exact budget";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      cargo = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).package;
      package =
        pkgs:
        pkgs.rustPlatform.buildRustPackage {
          pname = cargo.name;
          version = cargo.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          buildType = "dist";
          nativeBuildInputs = [ pkgs.installShellFiles ];
          # The tests drive terminals, shells and git; .ci/run runs them.
          doCheck = false;
          postInstall = ''
            $out/bin/qipu man --dir pages
            installManPage pages/*.1
            for shell in bash zsh fish; do
              $out/bin/qipu completions $shell > qipu.$shell
            done
            installShellCompletion qipu.bash qipu.zsh qipu.fish
          '';
          meta = {
            description = cargo.description;
            homepage = cargo.repository;
            license = pkgs.lib.licenses.mit;
            mainProgram = "qipu";
          };
        };
    in
    {
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = package nixpkgs.legacyPackages.${system};
      });
    };
}
