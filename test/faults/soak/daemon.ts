import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DaemonChild, PRODUCT } from '../daemon-child.ts'
import type { Sample } from './growth.ts'
import type { Stage } from './stage.ts'

/** The program users run, on a folder of its own. Whatever ends it, it is started again until `stop`. */
export class Soaked {
  readonly samples: Sample[] = []
  /** Ends that nobody asked for. */
  readonly unasked: string[] = []
  restarts = 0
  largestWal = 0
  readonly database: string
  readonly logFile: string
  readonly #child: DaemonChild
  readonly #startedAt = Date.now()
  #bornAt = 0
  #asked = false

  constructor(folder: string, stage: Stage) {
    this.database = join(folder, 'parley.db')
    this.logFile = join(folder, 'daemon.log')
    const configFile = join(folder, 'parley.yaml')
    writeFileSync(this.logFile, '')
    // JSON is YAML.
    writeFileSync(configFile, JSON.stringify(configOf(stage, this.database)), { mode: 0o600 })
    const env = { HOME: folder, XDG_STATE_HOME: folder, XDG_RUNTIME_DIR: folder, STATE_DIRECTORY: '' }
    const args = ['start', '--config', configFile]
    this.#child = new DaemonChild({ entry: PRODUCT, args, env, logFile: this.logFile, telegram: stage.telegram })
  }

  start(): void {
    this.#asked = false
    this.#bornAt = Date.now()
    this.#child.spawn()
    void this.#child.exited().then((exit) => {
      if (this.#asked) return
      this.unasked.push(`${JSON.stringify(exit)}\n${this.#child.logTail()}`)
      this.restart()
    })
  }

  restart(): void {
    this.restarts++
    this.start()
  }

  /** SIGKILL, and a new one at once. */
  async kill(): Promise<void> {
    this.#asked = true
    await this.#child.kill()
    this.restart()
  }

  /** SIGTERM. Returns what was not as it should be. */
  async stop(): Promise<string[]> {
    this.#asked = true
    const { code, signal } = await this.#child.terminate()
    return code === 0 ? [] : [`The daemon was told to stop and ended with ${code ?? signal}.`]
  }

  /** Looks at memory and disk. */
  sample(): void {
    const wal = `${this.database}-wal`
    if (existsSync(wal)) this.largestWal = Math.max(this.largestWal, statSync(wal).size)
    const rssMb = this.#rss()
    const now = Date.now()
    if (rssMb !== undefined) this.samples.push({ at: now - this.#startedAt, ageMs: now - this.#bornAt, rssMb })
  }

  /** Linux only; elsewhere memory is not told. */
  #rss(): number | undefined {
    const status = `/proc/${this.#child.pid}/status`
    const line = existsSync(status) ? /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(status, 'utf8')) : null
    return line ? Number(line[1]) / 1024 : undefined
  }
}

function configOf({ telegram, discord, slack, anthropic }: Stage, database: string): object {
  const limits = { perSecond: 1000, perChatPerSecond: 1000, perGroupPerMinute: 60_000 }
  const { botToken, appToken } = slack.app
  return {
    people: { operator: { role: 'owner', ids: ['telegram:1'] } },
    agents: [{ id: 'main', model: 'anthropic/rehearsal', tools: ['time'] }],
    models: { anthropic: { apiKey: anthropic.apiKey, baseUrl: anthropic.baseUrl } },
    channels: {
      telegram: { accounts: { default: { token: telegram.token, apiRoot: telegram.apiRoot, limits } } },
      discord: { accounts: { default: { token: discord.token, apiRoot: discord.apiRoot, limits } } },
      slack: { accounts: { default: { botToken, appToken, apiRoot: slack.apiRoot, limits } } },
    },
    routing: { access: { direct: 'public', groups: [{ who: 'public', trigger: 'always' }] } },
    // Nobody is to be turned away: what waits through an outage is answered after it.
    session: { publicTurns: { atOnce: 1000, perPerson: 100, waiting: 10_000 }, queue: { max: 100 } },
    store: { url: `sqlite:${database}` },
    logging: { level: 'info' },
  }
}
