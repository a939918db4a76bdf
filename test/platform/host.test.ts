import { execFile } from 'node:child_process'
import { getDefaultResultOrder, setDefaultResultOrder } from 'node:dns'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { getDefaultAutoSelectFamilyAttemptTimeout, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { settleHost } from '../../src/platform/host.ts'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname
const CONFIG = `
people: { ada: { role: owner, ids: ["telegram:7111"] } }
channels: { telegram: { accounts: { default: { token: "7000001:rehearsal" } } } }
schedules: [{ id: news, cron: "0 9 * * *", prompt: say it, deliverTo: "telegram:direct:7111" }]
`

/** Returns what `config check` and `config explain` print of a configuration on a machine with this TZ. */
async function withZone(TZ: string): Promise<{ readonly checked: string; readonly zone: string | undefined }> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-zone-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'parley.yaml')
  writeFileSync(file, CONFIG)
  const run = async (command: string): Promise<string> => {
    const options = { env: { PATH: process.env.PATH, HOME: folder, TZ }, cwd: folder }
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '-c', file, 'config', command], options)
    return stdout
  }
  const [checked, explained] = [await run('check'), await run('explain')]
  return { checked, zone: /schedules\.news: "0 9 \* \* \*" in ([^,]+),/.exec(explained)?.[1] }
}

it.each([
  ['Europe/Berlin', 'Europe/Berlin'],
  ['"Europe/Berlin"', 'Europe/Berlin'],
  [':Europe/Berlin', 'Europe/Berlin'],
  [' Europe/Berlin ', 'Europe/Berlin'],
  ['/usr/share/zoneinfo/Europe/Berlin', 'Europe/Berlin'],
  [':/usr/share/zoneinfo/posix/Europe/Berlin', 'Europe/Berlin'],
])('TZ=%s is understood', async (TZ, zone) => {
  expect(await withZone(TZ)).toMatchObject({ zone, checked: expect.not.stringContaining('TZ') })
})

it.each(['', ':/etc/localtime', '""'])('TZ=%s leaves the choice to the system', async (TZ) => {
  const { checked, zone } = await withZone(TZ)
  expect(checked).not.toContain('TZ')
  const options = { env: { PATH: process.env.PATH } }
  const asked = ['-p', "Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC'"]
  const { stdout } = await promisify(execFile)(process.execPath, asked, options)
  expect(zone).toBe(stdout.trim())
})

it.each(['UTC+2', 'Europe/Berln', 'CET-1CEST,M3.5.0'])('TZ=%s stands for UTC, and is said so', async (TZ) => {
  const { checked, zone } = await withZone(TZ)
  expect(zone).toBe('UTC')
  expect(checked).toContain(`TZ is "${TZ}", which names no time zone, so that times are in UTC; write one such as`)
})

it('an address has the time of a lost packet to answer, and IPv4 is tried first unless another order is set', () => {
  const [order, timeout] = [getDefaultResultOrder(), getDefaultAutoSelectFamilyAttemptTimeout()]
  onTestFinished(() => {
    setDefaultResultOrder(order)
    setDefaultAutoSelectFamilyAttemptTimeout(timeout)
  })
  setDefaultResultOrder('verbatim')
  expect(settleHost({})).toEqual([])
  expect(getDefaultResultOrder()).toBe('ipv4first')
  expect(getDefaultAutoSelectFamilyAttemptTimeout()).toBeGreaterThan(1_000)
  // As by NODE_OPTIONS.
  setDefaultResultOrder('ipv6first')
  settleHost({})
  expect(getDefaultResultOrder()).toBe('ipv6first')
})
