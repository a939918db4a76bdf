import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { requestMessages } from '../../src/sessions/view/model-view.ts'
import { createTranscript } from '../../src/sessions/view/transcript.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import type { Store } from '../../src/store/store.ts'
import { failureOf } from '../contracts/store/under-test.ts'
import { said } from '../fakes/said.ts'
import { scopeKeyOf, sessionDraft } from './sample-rows.ts'
import { removeTempFolders, tempFolder, withDatabase } from './temp-database.ts'

removeTempFolders()

/** Beside the installed packages, so that the bundle finds the native one. */
const BUNDLE = fileURLToPath(new URL(`../../node_modules/.cache/store-child-${process.pid}.mjs`, import.meta.url))
const open = (path: string) => openSqliteStore({ path, clock: systemClock })

/** What the model would be shown of the session, one line a message. */
async function shownMessages(store: Store): Promise<readonly string[]> {
  const { session } = await storedEvents(store)
  const limits = { turns: 40, dropTurns: 1, contextMessages: 50, contextCharacters: 9_000 }
  const view = await createTranscript(store.read.events, limits).view({ id: session.id, chatType: 'direct' })
  return requestMessages(view, 'direct').messages.map(said)
}

const LIBRARY = BUNDLE.replace(/mjs$/, 'so')

/** A folder that will hold what the child has synced, as a power cut would leave it; needs a compiler (Linux, `cc`). */
function powerCut(folder: string): { readonly env: Readonly<Record<string, string>>; readonly path: string } {
  const kept = join(folder, 'synced')
  mkdirSync(kept)
  return { env: { LD_PRELOAD: LIBRARY, SYNCED_TO: kept }, path: join(kept, 'store.db') }
}

async function storedEvents(store: Store) {
  const session = await store.read.sessions.current(scopeKeyOf(1))
  if (session === undefined) throw new Error('the session is lost')
  return { session, events: await store.read.events.since(session.id, 0, 1_000_000) }
}

/** The files of a store that nobody has killed. */
async function filesOfAStore(): Promise<string[]> {
  const folder = tempFolder()
  const store = await open(join(folder, 'store.db'))
  await store.write((tx) => tx.sessions.create(sessionDraft(1), 1))
  await store.close()
  return readdirSync(folder)
}

describe('a killed process', () => {
  beforeAll(async () => {
    await build({
      entryPoints: [fileURLToPath(new URL('store-child.ts', import.meta.url))],
      outfile: BUNDLE,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
    })
    const source = fileURLToPath(new URL('synced-copy.c', import.meta.url))
    try {
      execFileSync('cc', ['-shared', '-fPIC', '-o', LIBRARY, source, '-ldl'], { stdio: 'ignore' })
    } catch {
      rmSync(LIBRARY, { force: true })
    }
  })
  afterAll(() => {
    for (const file of [BUNDLE, LIBRARY]) rmSync(file, { force: true })
  })

  const start = (task: string, path: string, env = {}): ChildProcess =>
    spawn(process.execPath, [BUNDLE, task, path], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    })

  it('K30: an appended message is on disk before the call returns', async () => {
    const path = join(tempFolder(), 'store.db')
    const child = start('appendOnce', path)
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
    const store = await open(path)
    const { events } = await storedEvents(store)
    expect(events).toMatchObject([{ seq: 1, data: { text: 'last words' } }])
    await store.close()
  })

  it('K30: what a call has appended survives a power cut right after it', async (test) => {
    test.skip(!existsSync(LIBRARY), 'no compiler to cut the power with')
    const folder = tempFolder()
    const cut = powerCut(folder)
    const child = start('appendOnce', join(folder, 'store.db'), cut.env)
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
    const store = await open(cut.path)
    expect((await storedEvents(store)).events).toMatchObject([{ seq: 1, data: { text: 'last words' } }])
    await store.close()
  })

  it('K30, C23: a power cut under load loses nothing that was acknowledged, and leaves no gap', async (test) => {
    test.skip(!existsSync(LIBRARY), 'no compiler to cut the power with')
    const folder = tempFolder()
    const cut = powerCut(folder)
    const lines = await linesUntilKilled(start('append', join(folder, 'store.db'), cut.env), 100)
    const store = await open(cut.path)
    const { events } = await storedEvents(store)
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1))
    const stored = new Set(events.map((event) => `${event.seq} ${event.type === 'user_message' && event.data.text}`))
    expect(lines.length).toBeGreaterThanOrEqual(100)
    expect(lines.filter((line) => !stored.has(line))).toEqual([])
    await store.close()
  })

  it.each([
    [
      'before its commit shows the old messages',
      'rewriteUncommitted',
      ['old one', 'echo old one', 'old two', 'echo old two'],
    ],
    ['with its first commit shows all of the new ones', 'rewrite', ['new one', 'answer one', 'new two', 'answer two']],
  ])('K34: a process killed in a rewrite %s', async (_, task, messages) => {
    const path = join(tempFolder(), 'store.db')
    expect(await once(start(task, path), 'exit')).toEqual([null, 'SIGKILL'])
    const store = await open(path)
    expect(await shownMessages(store)).toEqual(messages)
    await store.close()
  })

  it('K30, C23: killed under load, everything acknowledged is there, without a gap', async () => {
    const path = join(tempFolder(), 'store.db')
    const child = start('append', path)
    const lines = await linesUntilKilled(child, 500)
    const store = await open(path)
    const { session, events } = await storedEvents(store)
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1))
    expect(session).toMatchObject({ lastSeq: events.length, messageCount: events.length })
    const stored = new Set(events.map((event) => `${event.seq} ${event.type === 'user_message' && event.data.text}`))
    expect(lines.length).toBeGreaterThanOrEqual(500)
    expect(lines.filter((line) => !stored.has(line))).toEqual([])
    await store.close()
  })

  it('R4: killed in a save before its commit, the session is the old one, and no temporary file is left', async () => {
    const folder = tempFolder()
    const path = join(folder, 'store.db')
    expect(await once(start('saveUncommitted', path), 'exit')).toEqual([null, 'SIGKILL'])
    const store = await open(path)
    const { session, events } = await storedEvents(store)
    expect(session).toMatchObject({ metadata: { chat: '-1001' }, lastSeq: events.length })
    expect(session.description).not.toContain('new')
    expect(JSON.stringify(events)).not.toContain('new')
    await store.close()
    expect(readdirSync(folder)).toEqual(await filesOfAStore())
  })

  it('R4: killed while it saves, the session is the last one acknowledged or the next, whole', async () => {
    for (const after of [1, 7, 40]) {
      const folder = tempFolder()
      const path = join(folder, 'store.db')
      const lines = await linesUntilKilled(start('save', path), after)
      const store = await open(path)
      const { session, events } = await storedEvents(store)
      const state = Number(session.metadata.state)
      expect([lines.length, lines.length + 1]).toContain(state)
      expect(session).toMatchObject({ description: `state ${state}`, lastSeq: state })
      expect(events.map((event) => event.type === 'user_message' && event.data.text.split(',')[0])).toEqual(
        Array.from({ length: state }, (_, no) => `state ${no + 1}`),
      )
      await store.close()
      expect(readdirSync(folder)).toEqual(await filesOfAStore())
    }
  })

  it('F-A23: a second process is refused within 2 s, and the lock dies with its holder', async () => {
    const path = join(tempFolder(), 'store.db')
    const begun = performance.now()
    const holder = start('hold', path)
    await once(createInterface({ input: readable(holder) }), 'line')
    const held = performance.now() - begun
    const took: number[] = []
    for (let time = 0; time < 5; time++) {
      const from = performance.now()
      expect(await failureOf(open(path))).toMatchObject({ code: 'store_locked' })
      took.push(performance.now() - from)
    }
    // To wait for the lock would take long each time; a busy machine does so now and then, and the holder took its time too.
    expect(Math.min(...took)).toBeLessThan(Math.max(2_000, 4 * held))
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const store = await open(path)
    expect(store.epoch).toBe(2)
    await store.close()
  })

  it('F-A25: killed inside a schema step, the next start finds the old schema and a copy', async () => {
    const path = join(tempFolder(), 'store.db')
    await (await open(path)).close()
    const child = start('migrate', path)
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
    const store = await open(path)
    expect(store.epoch).toBe(2)
    await store.close()
    const count = "SELECT COUNT(*) FROM sqlite_master WHERE name IN ('half', 'sessions')"
    for (const file of [path, `${path}.before-v${MIGRATIONS.length + 1}`]) {
      expect(withDatabase(file, (database) => database.prepare(count).pluck().get())).toBe(1)
    }
  })

  it('a process lives on when the engine collects statements that it no longer uses', async () => {
    const child = start('collect', join(tempFolder(), 'store.db'))
    const ended = once(child, 'exit')
    const lines: string[] = []
    for await (const line of createInterface({ input: readable(child) })) lines.push(line)
    expect([lines, ...(await ended)]).toEqual([['collected'], 0, null])
  })

  it('F-F01: a disk that takes no more rejects the write; what was acknowledged stays, nothing half', async () => {
    const path = join(tempFolder(), 'store.db')
    const shell = 'ulimit -f 2400; exec "$@"'
    const child = spawn('sh', ['-c', shell, 'sh', process.execPath, BUNDLE, 'fill', path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines: string[] = []
    for await (const line of createInterface({ input: readable(child) })) lines.push(line)
    expect(lines.pop()).toBe('unavailable')
    const store = await open(path)
    const { events } = await storedEvents(store)
    expect(lines.length).toBeGreaterThan(10)
    expect(events.map((event) => String(event.seq))).toEqual(lines)
    await store.close()
  })
})

/** Kills the child after so many lines and returns all it had printed by then. */
async function linesUntilKilled(child: ChildProcess, count: number): Promise<string[]> {
  const lines: string[] = []
  for await (const line of createInterface({ input: readable(child) })) {
    lines.push(line)
    if (lines.length === count) child.kill('SIGKILL')
  }
  return lines
}

function readable(child: ChildProcess) {
  if (child.stdout === null) throw new Error('the child has no output')
  return child.stdout
}
