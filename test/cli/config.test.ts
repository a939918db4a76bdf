import { describe, expect, test } from 'vitest'
import { rig } from './rig.ts'

const warnings = ['models: no key set, answers come from scripted/echo']

async function withWarnings() {
  const { loaded } = await rig()
  return rig({ load: () => ({ ...loaded, config: { ...loaded.config, file: 'parley.yaml', warnings } }) })
}

describe('config check', () => {
  test('of a valid file exits 0 and prints it with its warnings', async () => {
    const { run, out } = await withWarnings()
    expect(await run('config', 'check')).toBe(0)
    expect(out()).toBe(`✓ parley.yaml is valid\n  warning: ${warnings[0]}\n`)
  })

  test('a warning begins with the line of the file that it is about', async () => {
    const { loaded } = await rig()
    const config = { ...loaded.config, file: 'parley.yaml', warnings }
    const { run, out } = await rig({ load: () => ({ ...loaded, config, lineOf: () => 7 }) })
    expect(await run('config', 'check')).toBe(0)
    expect(out()).toContain(`  warning: line 7: ${warnings[0]}\n`)
  })

  test('of the environment alone says so', async () => {
    const { loaded } = await rig()
    const { file, ...config } = loaded.config
    const { run, out } = await rig({ load: () => ({ ...loaded, config }) })
    expect([await run('config', 'check'), out()]).toEqual([0, '✓ the environment (no file) is valid\n'])
  })

  test('--json prints the same as JSON', async () => {
    const { run, out } = await withWarnings()
    expect(await run('config', 'check', '--json')).toBe(0)
    expect(JSON.parse(out())).toEqual({ ok: true, file: 'parley.yaml', warnings })
  })
})

describe('config schema', () => {
  test.each([
    ['a value', () => ({ type: 'object' })],
    ['a promise', () => Promise.resolve({ type: 'object' })],
  ])('prints %s as JSON without reading the configuration', async (_what, configSchema) => {
    const { run, out, loads } = await rig({ configSchema })
    expect(await run('config', 'schema')).toBe(0)
    expect(out()).toBe('{\n  "type": "object"\n}\n')
    expect(loads).toEqual([])
  })
})

test('config schema --markdown prints a page with one line for each setting', async () => {
  const model = { properties: { model: { type: 'string', description: 'Which | one.', default: 'echo' } } }
  const { run, out } = await rig({ configSchema: () => ({ properties: { agents: { items: model } } }) })
  expect(await run('config', 'schema', '--markdown')).toBe(0)
  expect(out()).toContain('## agents\n')
  expect(out()).toContain('| `agents[].model` | text | `"echo"` | Which \\| one. |')
})

describe('config explain', () => {
  const explain = ({ dataDir }: { dataDir: string }): string[] => [`data in ${dataDir}`, 'nobody may talk']

  test('prints the lines', async () => {
    const { run, out, loaded } = await rig({ explain })
    expect(await run('config', 'explain')).toBe(0)
    expect(out()).toBe(`data in ${loaded.config.dataDir}\nnobody may talk\n`)
  })

  test('--json prints them as a list', async () => {
    const { run, out, loaded } = await rig({ explain })
    await run('config', 'explain', '--json')
    expect(JSON.parse(out())).toEqual(explain(loaded.config))
  })
})
