import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startAnthropicServer } from '../anthropic/server.ts'
import { startDiscordServer } from '../discord/server.ts'
import { startOpenAiServer } from '../openai/server.ts'
import { startSlackServer } from '../slack/server.ts'
import { startTelegramServer } from '../telegram/server.ts'
import { castWorld, type Servers } from './cast.ts'
import { DaemonProcess } from './daemon-process.ts'
import { DiscordStage } from './discord-stage.ts'
import { persona } from './persona.ts'
import { playByHand } from './play-by-hand.ts'
import { createPrinter } from './printer.ts'
import { Screen, type ScreenOutput } from './screen.ts'
import { SlackStage } from './slack-stage.ts'
import { Stage } from './stage.ts'
import { TelegramStage } from './telegram-stage.ts'
import { playTour } from './tour.ts'
import { secretsOf, writeConfig } from './write-config.ts'

export interface DemoOptions {
  /** True to play, check, and leave with exit code 0 or 1; otherwise the demo stays up for the user to type. */
  readonly once: boolean
  /** The program and arguments before `start --config <file>`. */
  readonly daemon: readonly [string, ...string[]]
  readonly input: NodeJS.ReadableStream
  readonly output: ScreenOutput
  /** Resolves with the name of a signal when the demo has to end at once, with its daemon and its folder. */
  readonly cut: Promise<unknown>
}

const TELEGRAM_TOKEN = '7000001:rehearsal'

const INTRODUCTION = [
  'The daemon and its client libraries are the real ones; Telegram, Discord and Slack are servers on this machine.',
  'The model is a script: it repeats what people say and lists what it has read. No token, no key, no network.',
].join(' ')

/**
 * Plays the demo: the real daemon as a child process, on a database of its own, against the rehearsal servers of this
 * process. Returns the exit code: 0 when every check passed, or when the user left before the end with Ctrl-C; with
 * `once` a tour that was cut short is a failure.
 */
export async function runDemo({ once, daemon: command, input, output, cut }: DemoOptions): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-demo-'))
  const screen = new Screen(output)
  const { terminal: colours, width } = screen
  const printer = createPrinter((line) => screen.write(line), { colours, width })
  const servers = await startServers()
  const anthropic = await startAnthropicServer({ script: persona })
  const audio = await startOpenAiServer()
  const cast = castWorld(servers)
  const config = writeConfig(folder, { ...servers, anthropic, audio, cast, toolServer: toolServerOf(command, folder) })
  const daemon = demoDaemon(command, { folder, config, secrets: secretsOf(servers, TELEGRAM_TOKEN) })
  const stage = new Stage({ platforms: platformsOf(servers), anthropic, audio, cast, daemon, printer })
  const play = async (): Promise<undefined> => {
    printer.title('Parley, rehearsed')
    printer.note(INTRODUCTION)
    await stage.start()
    await playTour(stage)
    if (!once) await playByHand(stage, { input, output, screen })
  }
  let by: unknown
  try {
    by = await Promise.race([play(), cut])
    if (by !== undefined && (once || by !== 'SIGINT')) stage.check(false, `ended by ${String(by)}`)
  } catch (error) {
    stage.check(false, error instanceof Error ? error.message : String(error))
    printer.note(daemon.logTail())
  } finally {
    screen.close()
    const code = await daemon.stop()
    // A tour that was cut short may just have killed its daemon.
    if (code !== 0 && by === undefined) {
      stage.failures++
      output.write(`The daemon ended with ${code ?? 'a signal'} instead of 0.\n`)
    }
    await Promise.all([anthropic, audio, ...Object.values(servers)].map((server) => server.close()))
    rmSync(folder, { recursive: true })
  }
  if (!once) output.write('\nGoodbye. The daemon has stopped, and nothing of it is left here.\n')
  return stage.failures === 0 ? 0 : 1
}

async function startServers(): Promise<Servers> {
  return {
    telegram: await startTelegramServer({ bots: [{ token: TELEGRAM_TOKEN, canReadAllGroupMessages: true }] }),
    discord: await startDiscordServer(),
    slack: await startSlackServer(),
  }
}

function platformsOf({ telegram, discord, slack }: Servers): Stage['platforms'] {
  return { telegram: new TelegramStage(telegram), discord: new DiscordStage(discord), slack: new SlackStage(slack) }
}

/** The example of a tool server lies beside the build of the program. */
function toolServerOf([, program = '']: DemoOptions['daemon'], folder: string): readonly string[] {
  return [
    join(dirname(program), '..', 'config', 'tool-servers', 'shopping-list.mjs'),
    join(folder, 'shopping-list.txt'),
  ]
}

interface Home {
  readonly folder: string
  readonly config: string
  readonly secrets: Readonly<Record<string, string>>
}

function demoDaemon([program, ...args]: DemoOptions['daemon'], { folder, config, secrets }: Home): DaemonProcess {
  const { PATH = '' } = process.env
  return new DaemonProcess({
    argv: [program, ...args, 'start', '--config', config],
    env: { PATH, XDG_STATE_HOME: folder, ...secrets },
    logFile: join(folder, 'daemon.log'),
    socketPath: join(folder, 'parley', 'parley.sock'),
  })
}
