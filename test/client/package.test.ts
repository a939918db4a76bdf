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

/** Compiles a program there as strictly as there is, libraries included, and without the types of Node. */
function compile(text: string, resolution: 'nodenext' | 'bundler'): string {
  writeFileSync(join(folder, 'program.ts'), text)
  const module = resolution === 'bundler' ? 'esnext' : 'nodenext'
  const options = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,esnext.disposable,dom']
  const args = [...options, '--exactOptionalPropertyTypes', '--module', module, '--moduleResolution', resolution]
  return String(spawnSync(process.execPath, [TSC, ...args, 'program.ts'], { cwd: folder }).stdout)
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
    'compiles in a strict TypeScript program that resolves as %s',
    (resolution) => {
      expect(compile(PROGRAM, resolution)).toBe('')
    },
  )

  test('knows the types: a program that mistakes them is refused', () => {
    const mistakes = [
      ["client.session.list({ limit: 'five' })", 'TS2322'],
      ['client.session.lists()', 'TS2551'],
      ["client.agent.prompt('api:x', {})", 'TS2345'],
      ['(await client.status.show()).channel', 'TS2551'],
    ]
    const head = "import { createClient } from 'parley/client'\nconst client = createClient({ baseUrl: '' })"
    const told = compile([head, ...mistakes.map(([expression]) => `await ${expression}`), ''].join('\n'), 'nodenext')
    expect([...told.matchAll(/error (TS\d+)/g)].map(([, code]) => code)).toEqual(mistakes.map(([, code]) => code))
  })

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
