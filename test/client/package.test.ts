import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { sample } from '../sample.ts'

const ROOT = new URL('../../', import.meta.url).pathname
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')

/** A folder with the packed package and nothing else of ours: what it needs it must bring along. */
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-packed-'))
  const packed = spawnSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], { cwd: ROOT })
  const [{ filename }] = JSON.parse(String(packed.stdout)) as [{ readonly filename: string }]
  const home = join(folder, 'node_modules/parley')
  mkdirSync(home, { recursive: true })
  spawnSync('tar', ['-xzf', join(folder, filename), '-C', home, '--strip-components=1'])
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  return () => rmSync(folder, { recursive: true })
})

/** Compiles programs there as strictly as there is, libraries included, and without the types of Node. */
function compile(texts: Readonly<Record<string, string>>, resolution: 'nodenext' | 'bundler'): string {
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text)
  const module = resolution === 'bundler' ? 'esnext' : 'nodenext'
  const options = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,esnext.disposable,dom']
  const args = [...options, '--exactOptionalPropertyTypes', '--module', module, '--moduleResolution', resolution]
  return String(spawnSync(process.execPath, [TSC, ...args, ...Object.keys(texts)], { cwd: folder }).stdout)
}

const PROGRAM = `
import { ApiError, createClient, type ParleyClient } from 'parley/client'
const client: ParleyClient = createClient({ baseUrl: 'http://127.0.0.1:1', token: 't', timeoutMs: 5 })
export async function main(): Promise<string> {
  const { sessions, total } = await client.session.list({ limit: 5 })
  const answer = await client.agent.prompt(sessions[total]?.id ?? 'api:x', { text: 'hello', waitSeconds: 3 })
  if (answer.status === 'ok') return answer.reply
  try {
    const { channels } = await client.status.show()
    return channels.map(({ status }) => status).join()
  } catch (error) {
    return error instanceof ApiError ? \`\${error.code} \${error.status.toFixed()}\` : ''
  }
}
`

describe('the packed package', () => {
  test.each(sample(['nodenext', 'bundler'] as const, 2))(
    'compiles in a strict TypeScript program that resolves as %s, and one that mistakes its types is refused',
    (resolution) => {
      const mistakes = [
        ["client.session.list({ limit: 'five' })", 'TS2322'],
        ['client.session.lists()', 'TS2551'],
        ["client.agent.prompt('api:x', {})", 'TS2345'],
        ['(await client.status.show()).channel', 'TS2551'],
      ]
      const head = "import { createClient } from 'parley/client'\nconst client = createClient({ baseUrl: '' })"
      const mistaken = [head, ...mistakes.map(([expression]) => `await ${expression}`), ''].join('\n')
      // Both at once: most of the time the compiler reads its own libraries.
      const told = compile({ 'program.ts': PROGRAM, 'mistaken.ts': mistaken }, resolution)
      const refused = [...told.matchAll(/^(\S+?)\(.*error (TS\d+)/gm)].map(([, file, code]) => [file, code])
      expect(refused).toEqual(mistakes.map(([, code]) => ['mistaken.ts', code]))
      expect(told.split('\n').filter((line) => line.startsWith('error'))).toEqual([])
    },
  )

  test('is imported by a plain program on Node, and needs no other package', () => {
    const text =
      "import { createClient } from 'parley/client'\nconsole.log(Object.keys(createClient({ baseUrl: '' }).agent))"
    writeFileSync(join(folder, 'plain.mjs'), text)
    const { stdout, stderr } = spawnSync(process.execPath, ['plain.mjs'], { cwd: folder })
    expect([String(stdout), String(stderr)]).toEqual(["[ 'prompt', 'list' ]\n", ''])
    const client = readFileSync(join(folder, 'node_modules/parley/dist/client/client.js'), 'utf8')
    expect(client).not.toMatch(/\bimport\b[^(]*from|require\(|["']node:/)
    expect(client.length).toBeLessThan(30_000)
  })

  test('has the document of the API', () => {
    const document = JSON.parse(readFileSync(join(folder, 'node_modules/parley/dist/openapi.json'), 'utf8'))
    expect(document.openapi).toBe('3.1.0')
  })
})
