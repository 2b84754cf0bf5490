# Sourced by checks with packages of PyPI, in the repository's root. It leaves in $venv
# the virtual environment of the file $requirements, which is kept in $CI_CACHE, by
# default ${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci.
cache=${CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci}
venv=$cache/$(basename "$requirements" _requirements.txt)-$(sha256sum <"$requirements" | cut -c1-12)
if ! [ -e "$venv/whole" ]; then
	rm -rf "$venv"
	mkdir -p "$cache"
	python3 -m venv "$venv"
	"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
	touch "$venv/whole"
fi
