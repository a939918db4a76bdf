import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startTelegramServer } from '../../src/rehearsal/telegram/server.ts'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname
const TOKEN = '7000001:rehearsal'
const FAMILY = 'telegram:group:-1007'

/** `parley` as a script runs it: the built program, with a configuration and a store of its own. */
async function rehearse() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-notify-'))
  const telegram = await startTelegramServer({ bots: [{ token: TOKEN }] })
  telegram.world.addUser({ id: 111, firstName: 'Ada' })
  telegram.world.addChat({ type: 'supergroup', title: 'Family', id: -1007, members: [111] })
  const account = `{ token: "${TOKEN}", apiRoot: "${telegram.apiRoot}" }`
  writeFileSync(join(folder, 'parley.yaml'), `channels: { telegram: { accounts: { default: ${account} } } }\n`)
  const env = { PATH: process.env.PATH ?? '', HOME: folder, PARLEY_CONFIG: join(folder, 'parley.yaml') }
  const running = new Set<ReturnType<typeof spawn>>()
  onTestFinished(async () => {
    for (const child of running) child.kill('SIGKILL')
    await telegram.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const start = async () => {
    const after = telegram.ledger.mark()
    const child = spawn(process.execPath, [MAIN, 'start'], { env, cwd: folder, stdio: 'ignore' })
    running.add(child)
    await telegram.ledger.listening({ after })
    return child
  }
  const notify = async (args: readonly string[], input = '') => {
    const child = spawn(process.execPath, [MAIN, 'notify', FAMILY, ...args], { env, cwd: folder })
    let said = ''
    for (const out of [child.stdout, child.stderr]) out.on('data', (chunk) => (said += chunk))
    child.stdin.end(input)
    await once(child, 'close')
    return [child.exitCode, said] as const
  }
  const texts = () => telegram.world.messages(-1007, { by: 'bot' }).map(({ message }) => message.text)
  return { telegram, start, notify, texts }
}

it('T43: a script says something by the command, while the daemon runs, and after it was killed', async () => {
  const { telegram, start, notify, texts } = await rehearse()
  const daemon = await start()
  expect(await notify(['-'], 'Backup **done**\n')).toEqual([0, expect.stringContaining(`Said in ${FAMILY}`)])
  daemon.kill('SIGKILL')
  await once(daemon, 'close')
  for (let turn = 0; turn < 2; turn++)
    expect(await notify(['While you were away', '--id', 'nightly', '--silent'])).toEqual([
      75,
      expect.stringMatching(/No daemon is running[\s\S]*Queued for/),
    ])
  const after = telegram.ledger.mark()
  await start()
  await telegram.ledger.nextFromBot('sent', { after })
  expect((await notify(['While you were away', '--id', 'nightly']))[0]).toBe(0)
  expect(texts()).toEqual(['Backup done', 'While you were away'])
})
