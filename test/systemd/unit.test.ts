import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { EXIT } from '../../src/core/errors.ts'

const run = promisify(execFile)

/** The directives that the unit must have; an empty value clears a list. */
const REQUIRED: readonly (readonly [name: string, value: string])[] = [
  ['Type', 'notify'],
  ['NotifyAccess', 'all'],
  ['WatchdogSec', '60'],
  ['Restart', 'always'],
  ['RestartSec', '2'],
  ['RestartPreventExitStatus', `${EXIT.migration} ${EXIT.config}`],
  ['StartLimitIntervalSec', '300'],
  ['StartLimitBurst', '20'],
  ['TimeoutStartSec', '900'],
  ['TimeoutStopSec', '30'],
  ['KillSignal', 'SIGTERM'],
  ['LimitCORE', '0'],
  ['MemoryMax', '1G'],
  ['OOMPolicy', 'continue'],
  ['TasksMax', '256'],
  ['LimitNOFILE', '65536'],
  ['DynamicUser', 'yes'],
  ['StateDirectory', 'parley'],
  ['StateDirectoryMode', '0700'],
  ['CacheDirectory', 'parley'],
  ['CacheDirectoryMode', '0700'],
  ['UMask', '0077'],
  ['NoNewPrivileges', 'yes'],
  ['CapabilityBoundingSet', ''],
  ['AmbientCapabilities', ''],
  ['ProtectSystem', 'strict'],
  ['ProtectHome', 'yes'],
  ['PrivateTmp', 'yes'],
  ['PrivateDevices', 'yes'],
  ['PrivateUsers', 'yes'],
  ['PrivateMounts', 'yes'],
  ['DevicePolicy', 'closed'],
  ['ProtectHostname', 'yes'],
  ['ProtectClock', 'yes'],
  ['ProtectKernelTunables', 'yes'],
  ['ProtectKernelModules', 'yes'],
  ['ProtectKernelLogs', 'yes'],
  ['ProtectControlGroups', 'yes'],
  ['ProtectProc', 'invisible'],
  ['ProcSubset', 'pid'],
  ['RestrictNamespaces', 'yes'],
  ['RestrictRealtime', 'yes'],
  ['RestrictSUIDSGID', 'yes'],
  ['LockPersonality', 'yes'],
  ['RemoveIPC', 'yes'],
  ['KeyringMode', 'private'],
  ['RestrictAddressFamilies', 'AF_INET AF_INET6 AF_UNIX'],
  ['SystemCallArchitectures', 'native'],
  ['SystemCallFilter', '@system-service'],
  ['SystemCallFilter', '~@privileged'],
  ['SystemCallErrorNumber', 'EPERM'],
  ['IPAddressDeny', 'link-local multicast'],
]

const unit = read('parley.service')
const directives = unit
  .split('\n')
  .filter((line) => /^[A-Z]\w+=/.test(line))
  .map((line) => line.split(/=(.*)/s).slice(0, 2))

test.each(REQUIRED)('the unit says %s=%s', (name, value) => {
  expect(directives).toContainEqual([name, value])
})

test('every line is blank, a comment, a section or one directive', () => {
  for (const line of unit.split('\n')) expect(line).toMatch(/^$|^#|^\[[A-Z]\w+\]$|^[A-Z]\w+=\S.*$|^[A-Z]\w+=$/)
  // A comment after a value would be part of the value.
  for (const [, value] of directives) expect(value).not.toContain('#')
})

test('F-J06: no secret stands in the unit, and its example hands them over as credentials', () => {
  expect(directives.filter(([name]) => name === 'Environment')).toEqual([['Environment', 'NODE_ENV=production']])
  expect(unit).toMatch(/^#LoadCredential=telegram-token:/m)
})

test('the example of the variables file is one systemd reads, and holds no values', () => {
  const lines = read('parley.env.example').split('\n')

  for (const line of lines) expect(line).toMatch(/^$|^#|^[A-Z_]+=$/)
  expect(lines).toContain('TELEGRAM_BOT_TOKEN=')
})

describe.runIf(hasTool('systemd-analyze'))('systemd-analyze', () => {
  test('verify finds nothing to say', async () => {
    const { stdout, stderr } = await analyse('verify', '--man=no')

    expect(`${stdout}${stderr}`).toBe('')
  })

  test('F-K10: the exposure is at most 2.0', async () => {
    const { stdout } = await analyse('security', '--offline=true', '--threshold=20', '--no-pager')

    expect(Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1])).toBeLessThanOrEqual(2)
  })
})

/** On a copy whose program exists on this host: the tool looks for it. Rejects when the tool does not exit with 0. */
async function analyse(...args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-unit-'))
  try {
    const copy = join(folder, 'parley.service')
    writeFileSync(copy, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`))
    return await run('systemd-analyze', [...args, copy])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function hasTool(name: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function read(file: string): string {
  return readFileSync(new URL(`../../systemd/${file}`, import.meta.url), 'utf8')
}
