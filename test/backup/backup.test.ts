import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { digestOf } from '../../src/backup/manifest.ts'
import { lockBackups } from '../../src/backup/take-backup.ts'
import { EXIT } from '../../src/core/errors.ts'
import { systemctlOf } from '../../src/core/service-unit.ts'
import { stopCommand } from '../../src/store/engines/sqlite-lock.ts'
import { OTHER_USER_RUNS } from '../e2e/other-user.ts'
import { CASE } from '../faults/rounds.ts'
import { withDatabase } from '../store/temp-database.ts'
import { ADA, BOB, type House, namesIn, startHouse, TOKEN } from './house.ts'

const ROOT = process.geteuid?.() === 0
const said = (path: string): readonly string[] =>
  withDatabase(path, (database) =>
    database.prepare<[], string>("SELECT data FROM events WHERE type = 'user_message' ORDER BY rowid").pluck().all(),
  )

/** A user of the machine for one test. */
function makeUser(): { readonly uid: number; readonly gid: number } {
  const name = `parley-t${process.pid}`
  execFileSync('useradd', ['--no-create-home', '--shell', '/usr/sbin/nologin', name])
  onTestFinished(() => void execFileSync('userdel', ['--force', name], { stdio: 'ignore' }))
  const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

interface Forged {
  readonly rows: Record<string, number>
  readonly files: { readonly path: string; readonly bytes: number; readonly sha256: string }[]
}

/** Writes the manifest of a copy anew, as somebody would who changes one on purpose. */
function forge(copy: string, change: (manifest: Forged) => void): void {
  const path = join(copy, 'manifest.json')
  const { sha256: _old, ...manifest } = JSON.parse(readFileSync(path, 'utf8'))
  change(manifest)
  const sha256 = digestOf(JSON.stringify(manifest, null, 1))
  writeFileSync(path, JSON.stringify({ ...manifest, sha256 }, null, 1))
}

async function stoppedWith(house: House, ...texts: readonly string[]): Promise<void> {
  const daemon = house.daemon()
  await daemon.start()
  for (const text of texts) await house.heard(text)
  await daemon.terminate()
}

describe('parley backup', CASE, () => {
  it.runIf(OTHER_USER_RUNS)(
    'under traffic, restored for another user: nothing is lost that was accepted before it began, nothing is said twice',
    async () => {
      const house = await startHouse()
      const { telegram, run, folder } = house
      const first = house.daemon()
      await first.start()
      await house.heard('before the copy')
      // An answer to Bob that waits while the copy is made, and leaves afterwards.
      const body = { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 3 } }
      const refused = telegram.faults.add({
        method: 'sendMessage',
        where: ({ params }) => String(params.chat_id) === String(BOB),
        action: { kind: 'answer', when: 'before', status: 429, body },
      })
      telegram.world.say({ from: BOB, text: 'the queued one' })
      await refused.reached
      let talking = true
      const traffic = (async () => {
        for (let no = 1; talking; no++) await house.heard(`traffic ${no}`)
      })()
      await house.heard('accepted before', BOB + 1)
      const copy = await house.backup(join(folder, 'copies'))
      talking = false
      await traffic
      await telegram.ledger.nextFromBot('sent', { where: ({ text }) => text.includes('the queued one') })
      expect(await first.terminate()).toMatchObject({ code: 0 })
      expect(statSync(copy).mode & 0o777).toBe(0o700)
      expect(statSync(join(copy, 'parley.db')).mode & 0o777).toBe(0o600)
      expect((await run(['backup', '--verify', copy])).stdout).toContain('is whole')
      for (const path of execFileSync('find', [copy, '-type', 'f'], { encoding: 'utf8' }).trim().split('\n'))
        expect(readFileSync(path).includes(TOKEN)).toBe(false)

      const other = makeUser()
      const home = join(folder, 'elsewhere')
      mkdirSync(home)
      chownSync(home, other.uid, other.gid)
      execFileSync('chown', ['-R', `${other.uid}:${other.gid}`, join(folder, 'copies')])
      const env = { HOME: home, XDG_STATE_HOME: join(home, 'state'), PARLEY_CONFIG: join(home, 'parley.yaml') }
      const dry = await run(['restore', copy, '--dry-run'], { ...other, env: { ...env, TELEGRAM_BOT_TOKEN: '' } })
      expect(dry).toMatchObject({ code: 0 })
      expect(dry.stdout).toContain('needs the variable TELEGRAM_BOT_TOKEN, WHICH IS MISSING here')
      expect(dry.stdout).toContain('no newer list of deletions')
      expect(namesIn(home).filter((name) => name !== '.cache')).toEqual([])
      const done = await run(['restore', copy, '--yes'], { ...other, env })
      expect(done).toMatchObject({ code: 0 })
      const database = join(home, 'state', 'parley', 'parley.db')
      expect(statSync(database)).toMatchObject({ uid: other.uid })
      for (const text of ['before the copy', 'the queued one', 'accepted before'])
        expect(said(database).filter((data) => data.includes(text))).toHaveLength(1)
      expect(readFileSync(join(home, 'parley.yaml'), 'utf8')).toBe(readFileSync(house.configFile, 'utf8'))

      const mark = telegram.ledger.mark()
      const second = house.daemon({ env, ...other })
      await second.start()
      await telegram.ledger.nextFromBot('sent', { after: mark, where: ({ text }) => text.includes('older copy') })
      const status = JSON.parse((await run(['status', '--json'], { ...other, env })).stdout)
      expect(status.restored.state).toBe('held')
      // An answer to the traffic may have waited as well.
      expect(status.restored.held).toBeGreaterThanOrEqual(1)
      for (const chat of [ADA, BOB]) {
        const texts = telegram.world.messages(chat, { by: 'bot' }).flatMap(({ message }) => message.text ?? [])
        const echoes = texts.filter((text) => text.startsWith('echo'))
        expect(new Set(echoes).size).toBe(echoes.length)
      }
      await second.terminate()
    },
  )

  it('leaves what it cannot read as a copy alone: --keep removes whole copies of this store and nothing else', async () => {
    const house = await startHouse()
    await stoppedWith(house, 'one')
    const copies = join(house.folder, 'copies')
    const first = await house.backup(copies)
    const other = join(copies, 'parley-2020-01-01T00-00-00Z')
    cpSync(first, other, { recursive: true })
    forge(other, (manifest) => Object.assign(manifest, { store: 1, madeAt: 0 }))
    mkdirSync(join(copies, 'parley-2020-02-01T00-00-00Z'))
    symlinkSync(first, join(copies, 'parley-2020-03-01T00-00-00Z'))
    // One that is cut, and one of a clock that was a year ahead: neither takes the place of a good one.
    const [cut, ahead] = [join(copies, 'parley-2020-04-01T00-00-00Z'), join(copies, 'parley-2090-01-01T00-00-00Z')]
    for (const path of [cut, ahead]) cpSync(first, path, { recursive: true })
    truncateSync(join(cut, 'parley.db'), 8_192)
    forge(ahead, (manifest) => Object.assign(manifest, { madeAt: Date.UTC(2090, 0) }))
    const { stdout } = await house.run(['backup', copies, '--keep', '1d', '--json'])
    const second = JSON.parse(stdout)
    expect(second).toMatchObject({ removed: [first], ahead: [ahead] })
    expect(namesIn(copies)).toEqual([
      ...['parley-2020-01-01T00-00-00Z', 'parley-2020-02-01T00-00-00Z', 'parley-2020-03-01T00-00-00Z'],
      ...['parley-2020-04-01T00-00-00Z', second.path.slice(copies.length + 1), 'parley-2090-01-01T00-00-00Z'],
    ])
    const release = lockBackups(house.state)
    expect(await house.run(['backup', copies])).toMatchObject({ code: EXIT.locked })
    release()
    rmSync(ahead, { recursive: true })
    expect((await house.run(['backup', copies, '--verify'])).stdout).toContain(`${second.path} is whole`)

    const older = join(house.folder, 'older')
    cpSync(second.path, older, { recursive: true })
    // The store of somebody else, in the place to which the copy is to go.
    forge(second.path, (manifest) => Object.assign(manifest, { store: 7 }))
    withDatabase(join(second.path, 'parley.db'), (database) => {
      database.exec("UPDATE counters SET value = 7 WHERE name = 'store'")
      database.pragma('journal_mode = DELETE')
    })
    sumAnew(second.path)
    const before = namesIn(house.state)
    const dry = await house.run(['restore', second.path, '--dry-run'])
    expect(dry.stdout).toContain('the copy is of another store than the one there')
    const same = await house.run(['restore', older, '--dry-run'])
    expect(same.stdout).toMatch(
      /the copy is of the store that is there: what was forgotten since would be\s+forgotten again/,
    )
    expect(namesIn(house.state)).toEqual(before)
    const done = await house.run(['restore', second.path, '--yes'])
    expect(done.stdout).toContain('the copy is of another store than the one there: no newer list of')
    expect(await house.run(['backup', copies, '--keep', 'seven'])).toMatchObject({ code: EXIT.usage })
  })

  it('names the secrets that stood in the file, and puts references in their place', async () => {
    const house = await startHouse()
    await stoppedWith(house, 'one')
    // A timer has none of the variables of the daemon.
    const bare = await house.run(['backup', '--json'], { env: { TELEGRAM_BOT_TOKEN: '' } })
    const { path, replaced } = JSON.parse(bare.stdout)
    expect(replaced).toEqual([])
    expect(readFileSync(join(path, 'config', 'parley.yaml'))).toEqual(readFileSync(house.configFile))
    const literal = readFileSync(house.configFile, 'utf8').replace(
      /\$\{env:TELEGRAM_BOT_TOKEN\}/,
      '7000001:literal-secret-of-a-bot',
    )
    mkdirSync(join(house.folder, 'config', 'prompts'))
    writeFileSync(join(house.folder, 'config', 'prompts', 'me.md'), 'Be kind.')
    const settings = {
      ...JSON.parse(literal),
      agents: [{ id: 'main', model: 'scripted/echo', prompt: 'prompts/me.md' }],
    }
    writeFileSync(house.configFile, `${JSON.stringify(settings, null, 1)} # token: 7000002:an-older-secret\n`)
    const { stdout, code } = await house.run(['backup', '--json'])
    expect(code).toBe(0)
    const report = JSON.parse(stdout)
    const kept = readFileSync(join(report.path, 'config', 'parley.yaml'), 'utf8')
    expect(kept).not.toMatch(/literal-secret|older-secret/)
    expect(kept).toContain('$' + '{env:PARLEY_TELEGRAM_DEFAULT_TOKEN}')
    expect(report.replaced[0].setting).toBe('channels.telegram.accounts.default.token')
    expect(report.needs.variables).toContain('PARLEY_TELEGRAM_DEFAULT_TOKEN')
    expect(readFileSync(join(report.path, 'config', 'prompts', 'me.md'), 'utf8')).toBe('Be kind.')
  })

  it('keeps the references to variables that this shell does not have', async () => {
    const house = await startHouse()
    await stoppedWith(house, 'one')
    const { stdout } = await house.run(['backup', '--json'], { env: { TELEGRAM_BOT_TOKEN: '' } })
    const report = JSON.parse(stdout)
    expect(report).toMatchObject({ replaced: [], needs: { variables: ['TELEGRAM_BOT_TOKEN'] } })
    const kept = readFileSync(join(report.path, 'config', 'parley.yaml'), 'utf8')
    expect(kept).toBe(readFileSync(house.configFile, 'utf8'))
  })

  it('copies no secret of any setting, nor hidden files, and the empty machine is given a list and the programs', async () => {
    const house = await startHouse()
    await stoppedWith(house, 'one')
    const home = dirname(house.configFile)
    const put = (path: string, text: string, mode = 0o644): void => {
      mkdirSync(dirname(join(home, path)), { recursive: true })
      writeFileSync(join(home, path), text, { mode })
    }
    put('hook.sh', '#!/bin/sh\n', 0o755)
    put('skills/a/SKILL.md', '---\nname: a\ndescription: Pays.\n---\nPay.')
    put('skills/.env', 'A=hunter')
    put('key', 'hunter', 0o600)
    put('skills/a/.git/config', 'hunter')
    symlinkSync(house.folder, join(home, 'out'))
    put('../shadow.md', 'hunter')
    const settings = {
      ...JSON.parse(readFileSync(house.configFile, 'utf8')),
      agents: [{ id: 'main', model: 'scripted/echo', skills: 'skills', prompt: 'out/shadow.md' }],
      hooks: {
        a: {
          on: 'after_turn',
          command: './hook.sh',
          args: ['--key', 'hunter'],
          env: { A: 'hunter', B: '$' + '{file:key}' },
        },
        b: { on: 'after_turn', url: 'http://127.0.0.1:9/services/hunter', secret: 'hunter of all' },
      },
      tools: { mcp: { c: { command: 'no-such-program', env: { A: 'hunter' } } } },
    }
    writeFileSync(house.configFile, `# hunter stands here as password: hunter\n${JSON.stringify(settings, null, 1)}`)
    const copy = await house.backup(join(house.folder, 'copies'))
    for (const path of execFileSync('find', [copy, '-type', 'f'], { encoding: 'utf8' }).trim().split('\n'))
      expect([path, readFileSync(path).includes('hunter')]).toEqual([path, false])
    const { stdout } = await house.run(['backup', join(house.folder, 'copies')])
    const left = ['skills/.env', 'skills/a/.git', 'out/shadow.md'].map((path) => `    ${join(home, path)}\n`)
    expect(stdout).toContain('not copied: hidden, a link, too large, or outside of that folder')
    for (const line of left) expect(stdout).toContain(line)
    const text = stdout.replaceAll(house.folder, '')
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([])

    const empty = join(house.folder, 'empty')
    const env = { XDG_STATE_HOME: empty, PARLEY_CONFIG: join(empty, 'config', 'parley.yaml'), TELEGRAM_BOT_TOKEN: '' }
    const dry = await house.run(['restore', copy, '--dry-run'], { env })
    expect(dry).toMatchObject({ code: 0 })
    for (const name of ['TELEGRAM_BOT_TOKEN', 'PARLEY_HOOKS_A_ENV_A', 'PARLEY_HOOKS_B_URL', 'PARLEY_MCP_C_ENV_A'])
      expect(dry.stdout).toContain(`needs the variable ${name}, WHICH IS MISSING here`)
    expect(dry.stdout).toContain(`needs the file ${join(empty, 'config', 'key')}, WHICH IS MISSING here`)
    expect(dry.stdout).toContain('needs the program no-such-program, WHICH IS MISSING here')
    expect(dry.stdout).toContain('where its own configuration says')
    expect(await house.run(['restore', copy, '--yes'], { env })).toMatchObject({ code: 0 })
    expect(statSync(join(empty, 'config', 'hook.sh')).mode & 0o777).toBe(0o700)
    expect(statSync(join(empty, 'config', 'parley.yaml')).mode & 0o777).toBe(0o600)
  })

  it.runIf(ROOT)(
    'root gives a copy to nobody but the owner of the store: the folder of a neighbour is refused',
    async () => {
      const house = await startHouse()
      await stoppedWith(house, 'one')
      const other = makeUser()
      const sticky = join(house.folder, 'sticky')
      mkdirSync(join(sticky, 'v'), { recursive: true, mode: 0o755 })
      chmodSync(sticky, 0o1777)
      chownSync(join(sticky, 'v'), other.uid, other.gid)
      for (const folder of [join(sticky, 'v'), join(sticky, 'v', 'more')]) {
        const refused = await house.run(['backup', folder])
        expect(refused).toMatchObject({ code: EXIT.config })
        expect(refused.stderr).toContain(`${join(sticky, 'v')} belongs to user ${other.uid}`)
      }
      expect(namesIn(join(sticky, 'v'))).toEqual([])
      execFileSync('chown', ['-R', `${other.uid}:${other.gid}`, house.state])
      const copy = await house.backup(join(sticky, 'v'))
      expect(statSync(join(copy, 'parley.db'))).toMatchObject({ uid: other.uid })
      // What the neighbour links in its own state folder is not read with the rights of root.
      const root = join(house.folder, 'of root')
      renameSync(join(house.state, 'parley.db'), root)
      chownSync(root, 0, 0)
      for (const [name, command] of [
        ['parley.db', ['backup', join(sticky, 'v')]],
        ['parley.db.marker', ['restore', copy, '--yes']],
      ] as const) {
        rmSync(join(house.state, name), { force: true })
        symlinkSync(root, join(house.state, name))
        const refused = await house.run(command)
        expect(refused).toMatchObject({ code: EXIT.config })
        expect(refused.stderr).toContain(`${join(house.state, name)} is in the way and no plain file`)
        rmSync(join(house.state, name))
      }
    },
  )

  it('a restore overwrites no file of the configuration, follows no link there, and writes for the owner alone', async () => {
    const house = await startHouse()
    await stoppedWith(house, 'one')
    const copy = await house.backup(join(house.folder, 'copies'))
    const beside = (name: string) => `${house.configFile}.restored${name}`
    writeFileSync(house.configFile, `${readFileSync(house.configFile, 'utf8')} # mine`)
    writeFileSync(beside(''), 'mine', { mode: 0o644 })
    symlinkSync(join(house.folder, 'nowhere'), beside('-2'))
    expect(await house.run(['restore', copy, '--yes'])).toMatchObject({ code: 0 })
    expect(readFileSync(beside(''), 'utf8')).toBe('mine')
    expect(namesIn(house.folder)).not.toContain('nowhere')
    expect(statSync(beside('-3')).mode & 0o777).toBe(0o600)
  })

  it('a restore moves nothing to where a changed record of it says, and fills no folder of something else', async () => {
    const house = await startHouse({ store: { url: 'sqlite:/nonexistent/parley.db' } })
    const theirs = join(house.folder, 'theirs')
    mkdirSync(theirs, { mode: 0o700 })
    const settings = JSON.parse(readFileSync(house.configFile, 'utf8'))
    writeFileSync(house.configFile, JSON.stringify({ ...settings, store: { url: `sqlite:${theirs}/parley.db` } }))
    await stoppedWith(house, 'one')
    const copy = await house.backup(join(house.folder, 'copies'))
    const record = join(theirs, 'parley.db.restoring')
    writeFileSync(record, JSON.stringify({ step: 'aside', aside: join(house.folder, 'out'), from: copy }))
    const before = namesIn(theirs)
    const refused = await house.run(['restore', copy, '--yes'])
    expect(refused).toMatchObject({ code: EXIT.config })
    expect(refused.stderr).toContain(`rm ${record}`)
    expect(namesIn(theirs)).toEqual(before)

    rmSync(theirs, { recursive: true })
    mkdirSync(theirs, { mode: 0o700 })
    writeFileSync(join(theirs, 'id_rsa'), '')
    const env = { PARLEY_CONFIG: join(house.folder, 'none.yaml') }
    const foreign = await house.run(['restore', copy, '--yes'], { env })
    expect(foreign).toMatchObject({ code: EXIT.config })
    expect(foreign.stderr).toContain('holds something else: id_rsa')
    expect(namesIn(theirs)).toEqual(['id_rsa'])
  })

  it.each<readonly [string, (copy: string) => void, RegExp]>([
    ['a truncated database', (copy) => truncateSync(join(copy, 'parley.db'), 8_192), /parley\.db was changed or cut/],
    ['a flipped byte', (copy) => flip(join(copy, 'parley.db')), /parley\.db was changed or cut/],
    [
      'a sparse file of a terabyte',
      (copy) => truncateSync(join(copy, 'config', 'parley.yaml'), 2 ** 40),
      /yaml was changed/,
    ],
    ['a sparse manifest', (copy) => truncateSync(join(copy, 'manifest.json'), 2 ** 40), /at most 200000000 are read/],
    ['a missing file', (copy) => rmSync(join(copy, 'config', 'parley.yaml')), /config\/parley\.yaml is missing/],
    ['a file more', (copy) => writeFileSync(join(copy, 'more'), ''), /more is not of it/],
    ['a changed manifest', (copy) => appendFileSync(join(copy, 'manifest.json'), ' x'), /manifest\.json was changed/],
    [
      'a manifest of another store',
      (copy) => forge(copy, (one) => Object.assign(one, { store: 7 })),
      /of another copy/,
    ],
    [
      'fewer rows than it had',
      (copy) => forge(copy, ({ rows }) => Object.assign(rows, { events: 99 })),
      /rows of events/,
    ],
    ['a foreign database', (copy) => foreign(copy), /is damaged/],
    ['a link', (copy) => symlinkSync('/etc/passwd', join(copy, 'config', 'link')), /no plain file/],
    [
      'a path that leads elsewhere',
      (copy) => forge(copy, ({ files }) => files.push({ path: '../../x', bytes: 1, sha256: 'a'.repeat(64) })),
      /\.\.\/\.\.\/x is missing/,
    ],
  ])('a copy with %s is not whole, and no restore takes it', async (_name, damage, words) => {
    const house = await startHouse()
    await stoppedWith(house, 'one')
    const copy = await house.backup(join(house.folder, 'copies'))
    damage(copy)
    const before = namesIn(house.state)
    const checked = await house.run(['backup', '--verify', copy])
    expect(checked).toMatchObject({ code: EXIT.migration, stdout: '' })
    expect(checked.stderr).toMatch(words)
    expect(await house.run(['restore', copy, '--yes'])).toMatchObject({ code: EXIT.migration })
    expect(namesIn(house.state)).toEqual(before)
  })

  it('a copy of a newer schema and a store that a daemon holds are refused, and nothing changes', async () => {
    const house = await startHouse()
    const daemon = house.daemon()
    await daemon.start()
    await house.heard('one')
    const copy = await house.backup(join(house.folder, 'copies'))
    const before = namesIn(house.state)
    expect(await house.run(['restore', copy, '--yes'])).toMatchObject({ code: EXIT.locked })
    const locked = await house.run(['restore', copy])
    expect(locked).toMatchObject({ code: EXIT.locked })
    expect(locked.stderr).toMatch(
      /^Process \d+ uses this store: .*\nStop it first: Ctrl-C in its terminal, or: kill \d+\n$/,
    )
    await daemon.terminate()
    forge(copy, (manifest) => Object.assign(manifest, { schema: 999, program: '9.9.9' }))
    const refused = await house.run(['restore', copy, '--yes'])
    expect(refused).toMatchObject({ code: EXIT.config })
    expect(refused.stderr).toContain('9.9.9')
    expect(namesIn(house.state).filter((name) => name.startsWith('before'))).toEqual([])
    expect(before).toContain('parley.db')
  })

  it.runIf(ROOT)(
    'a full disk ends with 74 and leaves nothing that looks whole, and status says that it failed',
    async ({ skip }) => {
      const house = await startHouse()
      await stoppedWith(house, 'one')
      const small = join(house.folder, 'small')
      mkdirSync(small, { mode: 0o700 })
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300k,mode=700', 'tmpfs', small], { stdio: 'pipe' })
      } catch {
        skip('nothing may be mounted here, so there is no small disk')
      }
      onTestFinished(() => void execFileSync('umount', [small], { stdio: 'ignore' }))
      const full = await house.run(['backup', small])
      expect(full).toMatchObject({ code: EXIT.disk })
      expect(namesIn(small)).toEqual([])
      const status = JSON.parse((await house.run(['status', '--json'])).stdout)
      expect(status.backup.reason).toContain(small)
      await house.backup(join(house.folder, 'copies'))
      const after = JSON.parse((await house.run(['status', '--json'])).stdout)
      expect(after.backup).toMatchObject({ there: true })
      expect(after.backup.reason).toBeUndefined()
    },
  )
})

it('a daemon is stopped by the manager that has started it', () => {
  expect(stopCommand(7, '0::/system.slice/parley.service\n')).toBe('sudo systemctl stop parley')
  const user = '0::/user.slice/user-1000.slice/user@1000.service/app.slice/parley.service\n'
  expect(stopCommand(7, user)).toBe('systemctl --user stop parley')
  expect(stopCommand(7, '0::/user.slice/user-1000.slice/session-2.scope\n')).toContain('kill 7')
  expect([systemctlOf(user), systemctlOf('0::/init.scope\n')]).toEqual(['systemctl --user', undefined])
})

function flip(path: string): void {
  const bytes = readFileSync(path)
  bytes[5_000] = (bytes[5_000] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

function foreign(copy: string): void {
  rmSync(join(copy, 'parley.db'))
  withDatabase(join(copy, 'parley.db'), (database) => database.exec('CREATE TABLE recipes (name TEXT)'))
  sumAnew(copy)
}

/** Writes the checksum of the database of a copy into its manifest. */
function sumAnew(copy: string): void {
  const bytes = readFileSync(join(copy, 'parley.db'))
  forge(copy, ({ files }) =>
    Object.assign(files.find(({ path }) => path === 'parley.db') ?? {}, {
      bytes: bytes.length,
      sha256: digestOf(bytes),
    }),
  )
}
