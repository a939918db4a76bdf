import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { examineFolder } from '../../src/daemon/examine-host.ts'
import { examineToolServer } from '../../src/daemon/examine-services.ts'
import { createMcpOperator } from '../../src/daemon/make-mcp.ts'
import { createSetupPorts } from '../../src/daemon/setup-ports.ts'
import { rig } from '../cli/rig.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

/** The machine as root finds it beside a service with a secret in its configuration, and a program as a tool server. */
async function beside() {
  const folder = tempFolder()
  const service = { config: join(folder, 'etc/parley.yaml'), data: join(folder, 'var') }
  mkdirSync(join(folder, 'etc'))
  mkdirSync(service.data, { mode: 0o700 })
  const [ran, program, token] = [join(folder, 'ran'), join(service.data, 'tool.sh'), join(folder, 'etc/tok')]
  writeFileSync(program, `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 })
  writeFileSync(token, '7000001:AA', { mode: 0o644 })
  writeFileSync(
    service.config,
    `tools: { mcp: { tool: { command: ${program} } } }\n` +
      'models: { a: { kind: openai, baseUrl: "http://127.0.0.1:1/v1", apiKey: sk-abcdef0123456789 } }\n' +
      'channels: { telegram: { accounts: { default: { token: "${file:tok}" } } } }\n',
  )
  for (const file of [service.config, token]) chmodSync(file, 0o644)
  const around = { env: { HOME: folder }, cwd: folder, service }
  const loaded = await loadConfig({ ...around, catalogue, use: 'ask' })
  return { folder, service, token, ran, around, loaded }
}

test('root starts neither the daemon of the service of the machine nor a program of its tool servers', async () => {
  const { loaded, ran } = await beside()
  const cli = await rig({ load: () => loaded })
  expect(await cli.run('start')).toBe(78)
  expect(cli.err()).toBe('The service of the machine runs as a user of its own. Run:\n  systemctl start parley\n')

  const [server] = loaded.config.mcp ?? []
  if (server === undefined) expect.unreachable()
  expect(await examineToolServer(server, { config: loaded.config, version: '1' })).toEqual([
    { part: 'tool server tool', check: 'tools', state: 'skipped', says: 'its program is run by the service alone' },
  ])
  await expect(createMcpOperator('1').test(loaded.config, 'tool')).rejects.toMatchObject({ code: 'forbidden' })
  expect(existsSync(ran)).toBe(false)
})

test('restore says that the service of the machine is started by its manager', async () => {
  const { loaded } = await beside()
  const none = async (): Promise<never> => expect.unreachable()
  const finished = { state: 'finished', path: '', into: '/x', needs: [], config: [], unwritten: [] } as const
  const backups = { take: none, verify: none, configIn: async () => undefined, restore: async () => finished }
  const cli = await rig({ load: () => loaded, backups: async () => backups })
  expect(await cli.run('restore', loaded.config.dataDir, '--yes')).toBe(0)
  expect(cli.out()).toContain('Next:\n  systemctl start parley\n  parley outbox list\n')
})

test.runIf(process.geteuid?.() === 0)(
  'doctor does not close files that the service of the machine reads as anybody may',
  async () => {
    const { loaded, service, token } = await beside()
    const findings = (await examineFolder({ config: loaded.config, now: 0 })).filter(({ check }) => check === 'mode')
    const remedy = expect.stringMatching(/^Write \$\{credential:NAME\} in its place, .* then: parley service install$/)
    expect(findings.toSorted((one, other) => other.says.localeCompare(one.says))).toEqual([
      { part: 'folder', check: 'mode', state: 'warning', says: expect.stringContaining(token), remedy },
      { part: 'folder', check: 'mode', state: 'warning', says: expect.stringContaining(service.config), remedy },
    ])
    chmodSync(token, 0o666)
    const fix = { kind: 'mode', path: token, mode: 'go-w' }
    expect(await examineFolder({ config: loaded.config, now: 0 })).toContainEqual(expect.objectContaining({ fix }))
    expect(statSync(token).mode & 0o777).toBe(0o666)
  },
)

test('init by root writes the usual file of root, and that of the service only where it is named', async () => {
  const { around, folder, service } = await beside()
  const { placeOf } = await createSetupPorts(catalogue, around)
  expect(placeOf()).toEqual({
    ...{ file: join(folder, '.config/parley/parley.yaml'), dataDir: join(folder, '.local/state/parley') },
  })
  expect(placeOf(service.config)).toEqual({ file: service.config, dataDir: service.data })
})
