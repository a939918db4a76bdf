import type { ChannelPlugin } from '../channels/adapter.ts'
import type { SetupPlace } from '../channels/setup.ts'
import type { Config, McpSettings } from '../config/config.ts'
import { systemClock } from '../core/clock.ts'
import { errorCode, ParleyError, toError } from '../core/errors.ts'
import { type Finding, findingsOf, saysAndRemedy } from '../core/finding.ts'
import { silentLogger } from '../core/logger.ts'
import { mcpGroup } from '../core/mcp.ts'
import { NO_MODEL } from '../core/model.ts'
import { MODEL_NEEDED, SCRIPTED, splitModel } from '../core/model-server.ts'
import type { StatusReport } from '../core/operator.ts'
import { createMcpOperator, OF_SERVICE } from './make-mcp.ts'
import { makeAudio } from './make-web.ts'
import { FEWEST_TOKENS, tryModel } from './try-model.ts'

/*
 * The half of an examination that asks over the network: the platforms, the models, the tool servers and the audio
 * endpoint, each as the daemon would ask it.
 */

type Plugins = Readonly<Record<string, ChannelPlugin<never>>>

/** One account of a channel to examine. */
export interface AccountCheck {
  readonly channel: string
  readonly account: string
  readonly settings: unknown
}

export interface ServiceLook {
  readonly config: Config
  readonly plugins: Plugins
  /** The answer of the daemon that runs, where one does. */
  readonly status: StatusReport | undefined
  readonly signal: AbortSignal
}

/** Returns the part of an account in findings: `telegram`, `slack/work`. */
export function partOf({ channel, account }: Pick<AccountCheck, 'channel' | 'account'>): string {
  return account === 'default' ? channel : `${channel}/${account}`
}

/** Asks a platform about an account and about the places in which it is. */
export async function examineAccount(
  { channel, account, settings }: AccountCheck,
  { plugins, status, signal }: ServiceLook,
  known: readonly SetupPlace[],
): Promise<readonly Finding[]> {
  const plugin = plugins[channel]
  if (plugin === undefined) throw new ParleyError('internal', `There is no channel ${channel}.`)
  const setup = await plugin.loadSetup()
  const state = status?.channels.find((one) => one.channel === channel && one.account === account)?.status
  const here = ({ address }: SetupPlace): boolean => address.channel === channel && address.account === account
  const places = known.filter(here)
  const services = { clock: systemClock, random: Math.random, logger: silentLogger }
  // Only the channel, whose own schema has parsed these settings, knows their type.
  const examined = { account, config: settings as never, services }
  const { findings } = await setup.examine(examined, {
    places,
    beside: state !== undefined && state !== 'down',
    signal,
  })
  return findings.map((finding) => ({ ...finding, part: partOf({ channel, account }) }))
}

/** Returns the findings about accounts whose token or secret cannot be had. */
export function absentAccounts({ down }: Pick<Config, 'down'>): readonly Finding[] {
  return down.map(({ channel, account, reason }) => {
    const [says, remedy] = saysAndRemedy(reason, 'parley config check')
    return findingsOf(partOf({ channel, account })).failed('secret', says, remedy)
  })
}

/** Returns what the daemon that runs says of its channels, which nobody else knows. */
export function channelsOf({ channels }: StatusReport): readonly Finding[] {
  return channels.map((one) => {
    const { ok, skipped, failed } = findingsOf(partOf(one))
    if (one.status === 'up') return ok('daemon', `the daemon receives ${one.receives ?? 'here'}`)
    if (one.status === 'starting') return skipped('daemon', 'the daemon is still connecting')
    const [says, remedy] = saysAndRemedy(one.detail ?? 'it is down', 'parley status')
    return failed('daemon', `the daemon cannot receive: ${says}`, remedy)
  })
}

/** Returns the models that an agent may ask, each once. */
export function modelsIn({ agents }: Pick<Config, 'agents'>): readonly string[] {
  const all = agents.flatMap(({ model, fallback = [], summaryModel }) => [
    ...[model, ...fallback],
    ...(summaryModel === undefined ? [] : [summaryModel]),
  ])
  return [...new Set(all)].filter((id) => id !== NO_MODEL && splitModel(id)[0] !== SCRIPTED)
}

/** Returns the agents without any model. The running daemon may have one by a variable that this shell lacks. */
export function agentsWithout({ agents }: Pick<Config, 'agents'>, status?: StatusReport): readonly Finding[] {
  const { failed, skipped } = findingsOf('model')
  const [there] = status?.models.filter((model) => model !== NO_MODEL) ?? []
  return agents
    .filter(({ model }) => model === NO_MODEL)
    .map(({ id }) =>
      there === undefined
        ? failed('none', `the agent ${id} has no model, so it answers nobody`, upper(MODEL_NEEDED))
        : skipped('none', `in this shell the agent ${id} has no model; the daemon that runs has ${there}`),
    )
}

const MODEL_MS = 20_000

/** Asks a model for one word; `usd` is what that costs, as far as it is known. */
export async function examineModel(
  id: string,
  { config, signal }: Pick<ServiceLook, 'config' | 'signal'>,
): Promise<{ readonly finding: Finding; readonly usd: number }> {
  const { ok, failed } = findingsOf(`model ${id}`)
  const trial = { question: 'Say yes.', maxTokens: FEWEST_TOKENS, withinMs: MODEL_MS, signal }
  const outcome = await tryModel(config, id, trial)
  if (!outcome.ok) return { finding: failed(outcome.code, outcome.says, outcome.remedy), usd: 0 }
  const { usd, ms } = outcome
  const price = usd === undefined ? 'its price is not known' : `that cost $${usd.toFixed(6)}`
  return { finding: ok('answer', `it answers within ${(ms / 1_000).toFixed(1)} s; ${price}`), usd: usd ?? 0 }
}

/** Connects to a tool server as the daemon would, and lists its tools. */
export async function examineToolServer(
  { name, at }: McpSettings,
  { config, version }: Pick<ServiceLook, 'config'> & { readonly version: string },
): Promise<readonly Finding[]> {
  const { ok, skipped, warning, failed } = findingsOf(`tool server ${name}`)
  if (config.ofService && at.kind === 'program') return [skipped('tools', OF_SERVICE)]
  try {
    const { tools, leftOut, unknown } = await createMcpOperator(version).test(config, name)
    const group = mcpGroup(name)
    const isUsed = config.agents.some((agent) => agent.tools.includes(group))
    const test = `parley mcp test ${name}`
    return [
      ok('tools', `it answers and has ${tools.length} tools`),
      ...(isUsed ? [] : [warning('unused', 'no agent may use it', `Write ${group} under tools of an agent`)]),
      ...leftOut.map((one) => warning('left-out', `left out: ${one}`, test)),
      ...unknown.map((one) => warning('unknown', `tools.mcp.${name} names ${one}, and no tool has that name`, test)),
    ]
  } catch (error) {
    const { message } = toError(error)
    const login = /log ?in/i.test(message)
    return [failed('answer', message, login ? `parley mcp login ${name}` : `parley mcp test ${name}`)]
  }
}

/** Ends the programs that were started to examine tool servers. */
export async function endToolServers(version: string): Promise<void> {
  await createMcpOperator(version).endPrograms()
}

/** Has a word spoken, and a second of silence transcribed: whichever the configuration has. */
export async function examineAudio({
  config,
  signal,
}: Pick<ServiceLook, 'config' | 'signal'>): Promise<readonly Finding[]> {
  const audio = makeAudio({ config, clock: systemClock, net: {} })
  const calls = [
    ...(audio.transcribe ? [['transcribe', () => audio.transcribe?.(SILENCE, signal)] as const] : []),
    ...(audio.speak ? [['speak', () => audio.speak?.('Yes.', signal)] as const] : []),
  ]
  return Promise.all(calls.map(([check, call]) => audioFinding(check, call)))
}

async function audioFinding(check: string, call: () => Promise<unknown> | undefined): Promise<Finding> {
  const { ok, failed } = findingsOf('audio')
  const does = check === 'speak' ? 'it speaks' : 'it transcribes'
  try {
    await call()
    return ok(check, does)
  } catch (error) {
    const { message, cause } = toError(error)
    // In silence there are no words: that is an answer too.
    if (errorCode(error) === 'unreadable' && /no words/.test(message)) return ok(check, does)
    const [, says = '', remedy = 'check audio.baseUrl and that its server runs'] =
      /^(.+?)(?:: (check .+))?$/s.exec(cause === undefined ? message : toError(cause).message) ?? []
    return failed(check, says, upper(remedy))
  }
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The header of a second of WAV: 16 bits, one channel, 8 kHz. */
const WAV = 'UklGRqQ+AABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YYA+AAA='
const SILENCE = { bytes: Buffer.alloc(44 + 16_000), mime: 'audio/wav' }
SILENCE.bytes.write(WAV, 'base64')
