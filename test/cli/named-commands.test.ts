import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { rig } from './rig.ts'

const ROOT = new URL('../../', import.meta.url).pathname
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

function files(folder: string, ending: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name))
}

/** Returns every text of a source, comments left out; none of one that does not name the program at all. */
function textsOf(path: string): string[] {
  const found: string[] = []
  const source = read(path)
  if (!source.includes('parley ')) return found
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      found.push(node.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, source, ts.ScriptTarget.Latest))
  return found
}

/** Returns the commands of the program, by the groups that have some: the program itself is ''. */
async function commandsOf(...group: string[]): Promise<ReadonlySet<string>> {
  const { run, out } = await rig()
  expect(await run(...group, '--help')).toBe(0)
  const listed = out().split('Commands:\n')[1]?.split('\n\n')[0] ?? ''
  return new Set([...listed.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name))
}

/** `"parley outbox resume"`, `npm run parley -- config check`: a quoted one is a command, in prose only some are. */
const TYPED =
  /(?:(["`])(?:[A-Z_]+=\S+ )*parley |npm run (?:-s )?parley -- |(?<![\w./@-])parley )([a-z]+)(?: ([a-z]+))?/g

test('every command that a text names exists', async () => {
  const groups = await commandsOf()
  const inGroup = new Map<string, ReadonlySet<string>>()
  for (const name of groups) inGroup.set(name, await commandsOf(name))
  const pages = ['README.md', ...files('config', /\.(md|yaml)$/), ...files('systemd', /./)].map((path) => [
    path,
    read(path),
  ])
  const sources = [...files('src', /\.ts$/), ...files('adapters', /\.ts$/)].flatMap((path) =>
    textsOf(path).map((text) => [path, text]),
  )
  const named = [...pages, ...sources].flatMap(([path = '', text = '']) =>
    [...text.matchAll(TYPED)].map(([whole, quote, name = '', second]) => ({ path, whole, quote, name, second })),
  )
  const known = named.filter(({ name }) => groups.has(name))
  const unknown = named.filter(({ whole, quote, name }) => !groups.has(name) && (quote ?? whole.startsWith('npm')))
  const wrong = known.filter(({ name, second }) => {
    const below = inGroup.get(name)
    return below !== undefined && below.size > 0 && second !== undefined && !below.has(second)
  })

  expect(known.length).toBeGreaterThan(15)
  expect([...unknown, ...wrong].map(({ path, whole }) => `${path}: ${whole}`)).toEqual([])
})
