# Sourced by jmh/race, contention, stress and bench, and by profiles/profile, with the folder jmh in $home: builds the module if a
# source is newer than the last build, and sets class_path.
listed="$home/target/class.path"
sources=("$home"/../pom.xml "$home"/../{kafka-internals,client,mirror-tool,testkit,jmh}/pom.xml "$home"/../{client,mirror-tool,testkit,jmh}/src/main)
if [[ ! -e $listed || -n $(find "${sources[@]}" -newer "$listed" -print -quit) ]]; then
    echo "Building the benchmarks: the first time this takes a minute or two." >&2
    mvn --quiet --batch-mode -f "$home/../pom.xml" -pl jmh -am -DskipTests package >&2
    touch "$listed"
fi
class_path="$home/target/classes:$(<"$listed")"
