import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AnthropicServer, startAnthropicServer } from '../anthropic/server.ts'
import { startTelegramServer, type TelegramServer } from '../telegram/server.ts'
import { type Cast, castWorld } from './cast.ts'
import { DaemonProcess } from './daemon-process.ts'
import { persona } from './persona.ts'
import { playByHand } from './play-by-hand.ts'
import { createPrinter } from './printer.ts'
import { Stage } from './stage.ts'
import { playTour } from './tour.ts'

export interface DemoOptions {
  /** Play, check, and leave: exit code 0 or 1. Otherwise stay up for the user to type. */
  readonly once: boolean
  /** Program and arguments in front of `start --config <file>`. */
  readonly daemon: readonly [string, ...string[]]
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean }
}

const START_WITHIN_MS = 10_000

/**
 * The demo: the real daemon as a child process, with the real client libraries, on a database of its own, against the
 * rehearsal servers of this process. No token, key or network is needed. Returns the exit code.
 */
export async function runDemo({ once, daemon: command, input, output }: DemoOptions): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-demo-'))
  const printer = createPrinter((line) => output.write(`${line}\n`), output.isTTY === true)
  const telegram = await startTelegramServer({ bots: [{ token: '7000001:rehearsal', canReadAllGroupMessages: true }] })
  const anthropic = await startAnthropicServer({ script: persona })
  const cast = castWorld(telegram)
  const daemon = demoDaemon(command, folder, writeConfig(folder, { telegram, anthropic, cast }))
  const stage = new Stage({ telegram, anthropic, cast, daemon, printer })
  try {
    printer.title('Parley, rehearsed: the real daemon and its real clients, against servers on this machine')
    const began = performance.now()
    await daemon.start(telegram.ledger.listening({ timeoutMs: START_WITHIN_MS }))
    printer.note(`the daemon listens ${Math.round(performance.now() - began)} ms after its start`)
    await playTour(stage)
    if (!once) await playByHand(stage, input, output)
  } catch (error) {
    stage.check(false, error instanceof Error ? error.message : String(error))
    printer.note(daemon.logTail())
  } finally {
    const code = await daemon.stop()
    if (code !== 0) stage.check(false, `the daemon ended with ${code ?? 'a signal'} instead of 0`)
    await anthropic.close()
    await telegram.close()
    rmSync(folder, { recursive: true })
  }
  return stage.failures === 0 ? 0 : 1
}

function demoDaemon([program, ...args]: readonly [string, ...string[]], folder: string, config: string): DaemonProcess {
  const { PATH = '' } = process.env
  return new DaemonProcess({
    argv: [program, ...args, 'start', '--config', config],
    env: { PATH, XDG_STATE_HOME: folder, PARLEY_DEMO_TOKEN: '7000001:rehearsal', PARLEY_DEMO_KEY: 'rehearsal-key' },
    logFile: join(folder, 'daemon.log'),
    socketPath: join(folder, 'parley', 'parley.sock'),
  })
}

interface Scenery {
  readonly telegram: TelegramServer
  readonly anthropic: AnthropicServer
  readonly cast: Cast
}

/** What an operator would write, but for the two addresses that point the clients at the rehearsal. */
function writeConfig(folder: string, { telegram, anthropic, cast: { people } }: Scenery): string {
  const file = join(folder, 'parley.yaml')
  const yaml = `people:
  ada: { role: owner, ids: ["telegram:${people.ada.id}"] }
  bo: { role: member, ids: ["telegram:${people.bo.id}"] }
  cy: { role: member, ids: ["telegram:${people.cy.id}"] }
agents:
  - { id: main, model: anthropic/rehearsal, tools: [time] }
models:
  anthropic: { apiKey: "\${env:PARLEY_DEMO_KEY}", baseUrl: "${anthropic.baseUrl}" }
channels:
  telegram: { accounts: { default: { token: "\${env:PARLEY_DEMO_TOKEN}", apiRoot: "${telegram.apiRoot}" } } }
routing:
  access:
    direct: allowlist
    groups: [{ match: { channel: telegram }, who: allowlist, trigger: mention }]
`
  writeFileSync(file, yaml, { mode: 0o600 })
  return file
}
