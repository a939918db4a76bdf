import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { startTelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { BotProcess } from './bot-process.ts'
import type { Contender } from './contenders.ts'

/** A contender at work on a server of its own. */
export interface Rig {
  readonly server: TelegramServer
  readonly bot: BotProcess
  readonly folder: string
  /** From the spawn of the process to the first poll that stands on the wire, in ms. */
  readonly startMs: number
  /** Resolves as `work` does; rejects if the bot ends before. */
  watch<T>(work: Promise<T>): Promise<T>
}

/** Starts a contender in `folder`, hands it to `work` once it listens, and ends it again. */
export async function withBot<T>(contender: Contender, folder: string, work: (rig: Rig) => Promise<T> | T): Promise<T> {
  globalThis.gc?.()
  const server = await startTelegramServer()
  const command = contender.command({ apiRoot: server.apiRoot, token: server.token, folder })
  const spawnedAt = performance.now()
  const bot = new BotProcess(command, folder)
  const watch = <R>(promise: Promise<R>): Promise<R> => Promise.race([promise, bot.ended])
  try {
    let startMs = Number.NaN
    const polled = server.ledger.next(
      ({ kind }) => {
        if (kind === 'poll') startMs = performance.now() - spawnedAt
        return kind === 'poll'
      },
      { timeoutMs: 30_000 },
    )
    await watch(polled)
    return await work({ server, bot, folder, startMs, watch })
  } finally {
    await bot.stop()
    await server.close()
  }
}

/** A fresh folder for `work`, gone afterwards. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What is being measured, for who waits; the results alone go to standard output. */
export function progress(text: string): void {
  process.stderr.write(`${text}\n`)
}
