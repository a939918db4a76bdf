import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { EXIT } from '../../src/core/errors.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { startTelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { formOf } from '../../src/store/engines/sqlite-form.ts'
import { DOT } from '../fakes/pictures.ts'
import { DaemonChild, PRODUCT } from '../faults/daemon-child.ts'
import { CASE } from '../faults/rounds.ts'
import { CANARY, filesIn, withCanary } from '../store/converting.ts'

const ADA = 111
const TOKEN = '7000001:canary-of-the-bot-token'
const PICTURE = Buffer.concat([DOT, Buffer.from(CANARY)])

/** The built program on the rehearsal server, first without a key; the key comes by a variable of the environment. */
async function install() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-product-'))
  const telegram = await startTelegramServer({ bots: [{ token: TOKEN, canReadAllGroupMessages: true }] })
  telegram.world.addUser({ id: ADA, firstName: 'Ada' })
  const [configFile, logFile] = [join(folder, 'parley.yaml'), join(folder, 'daemon.log')]
  writeFileSync(logFile, '')
  const accounts = { default: { token: TOKEN, apiRoot: telegram.apiRoot } }
  const settings = {
    people: { ada: { role: 'owner', ids: [`telegram:${ADA}`] } },
    agents: [{ id: 'main', model: 'scripted/echo' }],
    channels: { telegram: { accounts } },
  }
  const configure = (store: object): void => writeFileSync(configFile, JSON.stringify({ ...settings, store }))
  configure({})
  const keys = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')]
  const env: Record<string, string> = {
    XDG_STATE_HOME: join(folder, 'state'),
    STATE_DIRECTORY: '',
    STORE_KEY: String(keys[0]),
  }
  const args = ['start', '--config', configFile]
  const processes: DaemonChild[] = []
  onTestFinished(async () => {
    for (const child of processes) if (child.running) await child.kill()
    await telegram.close()
    rmSync(folder, { recursive: true })
  })
  return {
    ...{ telegram, logFile, configure, keys, env },
    state: join(folder, 'state', 'parley'),
    process() {
      const child = new DaemonChild({ entry: PRODUCT, args, env, logFile, telegram })
      processes.push(child)
      return child
    },
    run(...command: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
      const given = { env: { ...process.env, ...env } }
      const ended = promisify(execFile)(process.execPath, [PRODUCT, ...command, '--config', configFile], given)
      return ended.then(
        (out) => ({ code: 0, ...out }),
        (error) => error,
      )
    },
    async say(text: string) {
      telegram.world.say({ from: ADA, text })
      await telegram.ledger.nextFromBot('sent', { where: (entry) => entry.text === `echo ${text}` })
    },
  }
}

const WITH_KEY = { key: `\${env:STORE_KEY}` }

describe('the built program', CASE, () => {
  it('C48: encrypts the store it has, goes on where it was, killed too, and decrypts it again', async () => {
    const { telegram, logFile, configure, keys, env, state, process, run, say } = await install()
    const daemon = process()
    const path = join(state, 'parley.db')
    await daemon.start()
    await say(`${CANARY} one`)
    const mark = telegram.ledger.mark()
    telegram.world.say({ from: ADA, text: '', extra: fileFields(telegram.world, { as: 'photo', bytes: PICTURE }) })
    await telegram.ledger.nextFromBot('sent', { after: mark })
    // Its log stays as it is.
    await daemon.kill()
    expect(withCanary(state).length).toBeGreaterThan(1)

    configure(WITH_KEY)
    const refused = await run('start')
    expect(refused).toMatchObject({ code: EXIT.config })
    expect(refused.stderr).toContain('run "parley store encrypt"')
    const encrypted = await run('store', 'encrypt')
    expect(encrypted).toMatchObject({ code: EXIT.ok })
    expect(encrypted.stdout).toMatch(/parley\.db: encrypted\n1 files of conversations: encrypted\n.*An SSD/)
    expect([formOf(path), withCanary(state)]).toEqual(['encrypted', []])

    await daemon.start()
    await say(`${CANARY} two`)
    await daemon.kill()
    expect(withCanary(state)).toEqual([])
    await daemon.start()
    await say(`${CANARY} three`)
    expect((await run('sessions', 'list')).stdout).toContain('Ada')
    expect(await daemon.terminate()).toEqual({ code: EXIT.ok, signal: null })
    expect(withCanary(state)).toEqual([])

    for (const [key, words] of [
      [keys[1], 'store.key does not open'],
      ['', 'the variable STORE_KEY is not set'],
      ['1234', 'store.key: must be 64 hexadecimal digits and has 4 characters'],
    ] as const) {
      env.STORE_KEY = String(key)
      for (const command of [['start'], ['sessions', 'list'], ['store', 'encrypt']]) {
        const ended = await run(...command)
        expect([command, ended.code]).toEqual([command, EXIT.config])
        expect(ended.stderr).toContain(words)
      }
    }
    env.STORE_KEY = String(keys[0])
    const offline = await run('sessions', 'list')
    expect(offline.stdout).toContain('Ada')

    const decrypted = await run('store', 'decrypt', '--json')
    expect(JSON.parse(decrypted.stdout)).toMatchObject({ form: 'plain', files: 1, left: [] })
    expect(formOf(path)).toBe('plain')
    configure({})
    await daemon.start()
    await say(`${CANARY} four`)
    expect(await daemon.terminate()).toEqual({ code: EXIT.ok, signal: null })
    expect(withCanary(state).length).toBeGreaterThan(1)
    const logs = [readFileSync(logFile, 'utf8'), ...filesIn(state).map((file) => readFileSync(file, 'latin1'))].join(
      '\n',
    )
    expect(logs).not.toContain(keys[0])
  })

  it('C48: a copy of an encrypted store is as encrypted, is whole with its key alone, and is put back', async () => {
    const { telegram, configure, keys, env, state, process, run, say } = await install()
    configure(WITH_KEY)
    const daemon = process()
    await daemon.start()
    await say(`${CANARY} one`)
    const mark = telegram.ledger.mark()
    telegram.world.say({ from: ADA, text: '', extra: fileFields(telegram.world, { as: 'photo', bytes: PICTURE }) })
    await telegram.ledger.nextFromBot('sent', { after: mark })
    const made = JSON.parse((await run('backup', '--json')).stdout)
    expect(made).toMatchObject({ encrypted: true, files: 1, damaged: [] })
    await say(`${CANARY} two`)
    expect(await run('forget', 'person', `telegram:${ADA}`, '--yes')).toMatchObject({ code: EXIT.ok })
    await daemon.terminate()
    expect(withCanary(state)).toEqual([])
    expect((await run('backup', '--verify', made.path)).stdout).toContain('encrypted')
    env.STORE_KEY = String(keys[1])
    for (const command of [['backup', '--verify', made.path], ['restore', made.path, '--yes'], ['backup']])
      expect(await run(...command)).toMatchObject({ code: EXIT.config })
    env.STORE_KEY = String(keys[0])
    const restored = await run('restore', made.path, '--yes', '--json')
    expect(restored).toMatchObject({ code: EXIT.ok })
    expect(JSON.parse(restored.stdout).forgotten).toMatchObject({ files: 1 })
    expect([formOf(join(state, 'parley.db')), withCanary(state)]).toEqual(['encrypted', []])
    await daemon.start()
    await say('three')
    await daemon.terminate()
  })

  it('a new store with a key is encrypted from its first byte', async () => {
    const { configure, state, process, say } = await install()
    configure(WITH_KEY)
    const daemon = process()
    await daemon.start()
    await say(CANARY)
    expect(formOf(join(state, 'parley.db'))).toBe('encrypted')
    expect(withCanary(state)).toEqual([])
    expect(await daemon.terminate()).toEqual({ code: EXIT.ok, signal: null })
    expect(withCanary(state)).toEqual([])
  })
})
