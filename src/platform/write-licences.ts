import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

// A step of the build: the program carries the code of other packages, so the packed file carries their licences. Those
// that it does not carry are the dependencies that npm installs beside it.

interface Metafile {
  readonly outputs: Readonly<Record<string, { readonly inputs: Readonly<Record<string, unknown>> }>>
}

const FOLDER = 'node_modules/'
const LICENCE = /^(?:licen[cs]e|copying|notice)/i

const metafiles = ['dist/meta.json', 'dist/routes/meta.json']
const folders = new Set(metafiles.flatMap(packagesIn))
writeFileSync('dist/LICENCES.txt', [...folders].sort().map(licenceOf).join('\n\n'))

/** Returns the folders of the packages whose code a bundle holds. */
function packagesIn(metafile: string): readonly string[] {
  const { outputs }: Metafile = JSON.parse(readFileSync(metafile, 'utf8'))
  const inputs = Object.values(outputs).flatMap((output) => Object.keys(output.inputs))
  return inputs.filter((input) => input.includes(FOLDER)).map(packageOf)
}

function packageOf(input: string): string {
  const start = input.lastIndexOf(FOLDER) + FOLDER.length
  const names = input.slice(start).split('/')
  return input.slice(0, start) + names.slice(0, names[0]?.startsWith('@') ? 2 : 1).join('/')
}

/** Returns the name of a package with its licence, or with the name of that licence where the package has no text. */
function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
  const files = readdirSync(folder).filter((file) => LICENCE.test(file))
  const texts = files.map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim())
  return [`== ${name} ${version} (${license})`, ...texts].join('\n\n')
}
