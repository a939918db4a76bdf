#!/usr/bin/env node
// The first file that Node reads. An older Node cannot load the program at all: so this one uses no newer syntax, and
// loads the program only once the version is known. The floor is also in package.json.
const { node: running } = process.versions
const [major = 0, minor = 0] = running.split('.').map(Number)

if ((major === 20 && minor >= 19) || major >= 22) {
  void import('./main.ts')
} else {
  process.exitCode = 78
  process.stderr.write(`Parley needs Node 20.19 or a later 20, or 22 and later; this is Node ${running}.\n`)
}
