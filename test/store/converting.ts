import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { MediaId } from '../../src/core/ids.ts'
import type { StoreForm } from '../../src/core/store-conversion.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { mediaStoreIn } from '../fakes/media.ts'
import { tempFolder, withDatabase } from './temp-database.ts'

export const POINTS = [
  'CP35-store-copied',
  'CP36-store-linked',
  'CP37-store-swapped',
  'CP38-file-converted',
  'CP39-store-converted',
] as const

export const CANARY = 'CANARY-that-is-nowhere-else'

const NUMBERS = [...Array(200).keys()]

/** Beside the installed packages, so that the bundle finds the native one. */
const BUNDLE = fileURLToPath(new URL(`../../node_modules/.cache/convert-child-${process.pid}.mjs`, import.meta.url))

/** Called once by each suite that uses `convert`. */
export function buildChild(): void {
  beforeAll(async () => {
    await build({
      entryPoints: [fileURLToPath(new URL('convert-child.ts', import.meta.url))],
      ...{ outfile: BUNDLE, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' },
    })
  })
  afterAll(() => rmSync(BUNDLE, { force: true }))
}

export interface Household {
  readonly folder: string
  readonly path: string
  readonly key: string
  readonly files: readonly MediaId[]
}

/** A plain store with words in its database, its write-ahead log, a copy before a migration, files, and leftovers. */
export async function plainHousehold(): Promise<Household> {
  const folder = tempFolder()
  const path = join(folder, 'parley.db')
  const store = await openSqliteStore({ path, clock: systemClock })
  await Promise.all(NUMBERS.map((no) => store.write((tx) => tx.notices.once(`${CANARY} ${no}`, no, 0))))
  await store.close()
  copyFileSync(path, `${path}.before-v7`)
  writeFileSync(`${path}.before-v8.partial`, CANARY)
  // A process that was killed leaves its log.
  withDatabase(path, (database) => {
    database.pragma('journal_mode = WAL')
    database.exec(`INSERT INTO notices VALUES ('${CANARY} in the log', 1)`)
    for (const suffix of ['', '-wal', '-shm']) copyFileSync(path + suffix, join(folder, `kept${suffix}`))
  })
  for (const suffix of ['', '-wal', '-shm']) {
    copyFileSync(join(folder, `kept${suffix}`), path + suffix)
    rmSync(join(folder, `kept${suffix}`))
  }
  const media = mediaStoreIn(join(folder, 'media'))
  const files: MediaId[] = []
  for (const name of ['one', 'two', 'three'])
    files.push((await media.keep(new TextEncoder().encode(`${CANARY} ${name}`))).media)
  writeFileSync(join(folder, 'media', 'partial-left'), CANARY)
  return { folder, path, key: randomBytes(32).toString('hex'), files }
}

interface Run {
  readonly to: StoreForm
  readonly by?: 'veiling'
  /** It is killed there. */
  readonly at?: string
}

export function start({ folder, key }: Household, { to, by, at = '' }: Run): ChildProcess {
  return spawn(process.execPath, [BUNDLE, folder, to, key, at, by ?? ''], { stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Converts the store in a process of its own, and returns how that ended. */
export async function convert(household: Household, run: Run): Promise<unknown> {
  const [code, signal] = await once(start(household, run), 'exit')
  return signal ?? code
}

export function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
}

/** Returns the files in which the canary is found. */
export function withCanary(folder: string): readonly string[] {
  return filesIn(folder).filter((path) => readFileSync(path).includes(CANARY))
}
