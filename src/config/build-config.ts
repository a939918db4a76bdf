import { dirname, resolve } from 'node:path'
import type { ToolRule } from '../core/approval.ts'
import type { Channels, TraitsByChannel } from '../core/channel-traits.ts'
import { type AgentId, toAgentId, toPersonId } from '../core/ids.ts'
import { isZone } from '../core/machine-zone.ts'
import type { RoutingPolicy } from '../core/policy.ts'
import { storeKeyMistake } from '../core/store-key.ts'
import { buildAgents } from './build-agents.ts'
import { audioKeyWarnings, audioMistakes, buildAudio, voiceWarnings } from './build-audio.ts'
import { budgetMistakes, budgetWarnings, buildBudgets } from './build-budgets.ts'
import { buildHooks, hookMistakes } from './build-hooks.ts'
import { buildHttp, sharedSecretWarnings, shownInGroupWarnings } from './build-http.ts'
import { buildMcp, mcpMistakes } from './build-mcp.ts'
import { buildModels, modelMistakes } from './build-models.ts'
import { buildOwnTools, ownToolsMistakes } from './build-own-tools.ts'
import { buildSchedules } from './build-schedules.ts'
import type { ChannelBlock, Config, SessionToolSettings, WebSettings } from './config.ts'
import { sharedPortMistakes, unknownNameMistakes } from './cross-checks.ts'
import { suggestion } from './describe-issue.ts'
import { idlePlaceWarnings, idleRuleWarnings, idleToolWarnings, noEffectWarnings } from './idle-rules.ts'
import { malformedIdMistakes, mistakenTokenWarnings } from './malformed-values.ts'
import type { Mistake } from './mistake.ts'
import { placeholderMistakes } from './placeholders.ts'
import { databaseFile } from './places.ts'
import type { SourceOptions } from './read-source.ts'
import { type ChannelCatalogue, type ConfigFile, traitsOf } from './schema.ts'
import { Secret } from './secrets.ts'
import type { Keyless } from './set-aside.ts'

interface BuildOptions extends SourceOptions {
  readonly file?: string
  readonly folder: string
  readonly toolGroups?: readonly string[]
  readonly down: Config['down']
  readonly keyless: Keyless
  /** Why the key of the store cannot be had now. */
  readonly keyAbsent: string | undefined
  readonly catalogue: ChannelCatalogue
  readonly known: Channels
}

interface Built {
  readonly config: Config
  /** The mistakes that show only when the parts are put together; the configuration is unusable then. */
  readonly mistakes: readonly Mistake[]
}

/** Fills in what depends on other parts or on the machine: models, prompts, folders. */
export function buildConfig(parsed: ConfigFile, options: BuildOptions): Built {
  const models = buildModels(parsed, options.keyless)
  const { agents, mistakes, warnings } = buildAgents(parsed, { ...options, models })
  const path = databaseFile(parsed.store.url, options)
  const ids = agents.map(({ id }) => id)
  const { mistakes: toolMistakes, ...sessionTools } = buildSessionTools(parsed, ids)
  const ownTools = buildOwnTools(parsed, options.folder)
  const scheduled = buildSchedules(parsed, { agents: ids, down: options.down })
  const api = buildHttp(parsed, { agents: ids, down: options.down })
  const audio = buildAudio(parsed)
  const config: Config = {
    ...(options.file === undefined ? {} : { file: options.file }),
    agents,
    models,
    ...(audio === undefined ? {} : { audio }),
    ...wherePresent(parsed),
    ...api.http,
    channels: buildChannels(parsed, options.known),
    down: options.down,
    routing: toPolicy(parsed, ids, traitsOf(options.catalogue)),
    session: sessionSettings(parsed),
    budgets: buildBudgets(parsed, { channels: options.known, models }),
    retention: parsed.retention,
    ...sessionTools,
    toolResults: parsed.tools.results,
    media: parsed.media,
    web: buildWeb(parsed),
    mcp: buildMcp(parsed, options.folder),
    ownTools,
    hooks: buildHooks(parsed, options),
    toolPolicy: parsed.tools.policy.map(toToolRule),
    schedules: scheduled.schedules,
    store: buildStore(parsed, path, options.keyAbsent),
    ...buildBackup(parsed, options.folder),
    logging: { level: parsed.logging.level, pretty: parsed.logging.pretty },
    scriptFolder: options.folder,
    dataDir: dirname(path),
    warnings: [...warnings, ...budgetWarnings(parsed, { agents, models }), ...warningsOf(parsed, options.known)],
  }
  return {
    config,
    mistakes: [
      ...mistakes,
      ...modelMistakes(parsed, options.keyless),
      ...audioMistakes(parsed),
      ...budgetMistakes(parsed, options.known),
      ...storeMistakes(parsed),
      ...toolMistakes,
      ...searchMistakes(parsed),
      ...mcpMistakes(parsed, options.folder),
      ...ownToolsMistakes(ownTools),
      ...hookMistakes(parsed, options.folder),
      ...unknownNameMistakes(parsed),
      ...unknownZoneMistakes(parsed),
      ...scheduled.mistakes,
      ...api.mistakes,
      ...placeholderMistakes(parsed, options.known),
      ...malformedIdMistakes(parsed, options.known),
      ...sharedPortMistakes(parsed, options.known),
    ],
  }
}

/** Returns the parts that are taken as they stand, where they stand. */
function wherePresent({ workspaces }: ConfigFile): Pick<Config, 'workspaces'> {
  return workspaces === undefined ? {} : { workspaces }
}

/** Returns what is right and does nothing, not what was meant, or more than that. */
function warningsOf(parsed: ConfigFile, known: BuildOptions['known']): readonly string[] {
  return [
    ...mistakenTokenWarnings(parsed, known),
    ...noEffectWarnings(parsed, known),
    ...voiceWarnings(parsed),
    ...audioKeyWarnings(parsed),
    ...idleRuleWarnings(parsed, known),
    ...idleToolWarnings(parsed),
    ...idlePlaceWarnings(parsed),
    ...sharedSecretWarnings(parsed),
    ...shownInGroupWarnings(parsed),
  ]
}

function sessionSettings({
  session: {
    queue,
    publicTurns,
    answerParts,
    answerAsFile,
    staleDays,
    turnCap,
    maxMessages,
    maxCost,
    onExceed,
    checkpoint,
  },
}: ConfigFile): Config['session'] {
  return {
    ...{ queue, publicTurns, answerParts, staleDays, maxMessages, onExceed },
    ...(maxCost === undefined ? {} : { maxCost }),
    ...(answerAsFile === undefined ? {} : { answerAsFile }),
    ...(turnCap === undefined ? {} : { turnCap }),
    ...(checkpoint === undefined ? {} : { checkpoint }),
  }
}

function buildWeb({ tools: { web } }: ConfigFile): WebSettings {
  const { allowedHosts, search } = web
  if (search === undefined) return { allowedHosts }
  const { apiKey, ...place } = search
  return { allowedHosts, search: { ...place, ...(apiKey ? { apiKey: new Secret(apiKey) } : {}) } }
}

function searchMistakes({ tools: { web } }: ConfigFile): Mistake[] {
  if (web.search === undefined) return []
  const { provider, url, apiKey } = web.search
  const at = (key: 'url' | 'apiKey', words: string): Mistake[] => [
    { path: ['tools', 'web', 'search', key], message: `tools.web.search.${key}: ${words}` },
  ]
  if (provider === 'searxng' && url === undefined) return at('url', 'is needed for searxng')
  if (provider !== 'searxng' && apiKey === undefined) return at('apiKey', `is needed for ${provider}`)
  const { username, password } = new URL(url ?? 'https://none')
  return username + password === '' ? [] : at('url', 'must have no name or password in it')
}

/** In the order of the catalogue, whatever that of the file. */
function buildChannels({ channels }: ConfigFile, { platforms }: Channels): Config['channels'] {
  const blocks: Record<string, ChannelBlock> = {}
  for (const id of platforms) {
    const block = channels[id]
    if (block !== undefined) blocks[id] = block
  }
  return blocks
}

function buildStore({ store }: ConfigFile, path: string, keyAbsent: string | undefined): Config['store'] {
  const { key, keepRefusedDays } = store
  return {
    ...{ path, keepRefusedDays },
    ...(key === undefined ? {} : { key: new Secret(key) }),
    ...(keyAbsent === undefined ? {} : { keyAbsent }),
  }
}

/** A folder for copies begins at that of the configuration, as a file does that it names. */
function buildBackup({ backup }: ConfigFile, folder: string): Pick<Config, 'backup'> {
  if (backup === undefined) return {}
  const { to, ...rest } = backup
  return { backup: { ...rest, ...(to === undefined ? {} : { to: resolve(folder, to) }) } }
}

function storeMistakes({ store: { url, key } }: ConfigFile): Mistake[] {
  return [...urlMistakes(url), ...keyMistakes(key)]
}

function keyMistakes(key: string | undefined): Mistake[] {
  const mistake = key === undefined ? undefined : storeKeyMistake(key)
  return mistake === undefined ? [] : [{ path: ['store', 'key'], message: `store.key: ${mistake}` }]
}

function urlMistakes(url: string): Mistake[] {
  const at = { path: ['store', 'url'] }
  if (/^postgres(ql)?:/.test(url)) {
    return [{ ...at, message: 'store.url: Postgres is not available yet; write sqlite:<file>' }]
  }
  return /^sqlite:[^:]/.test(url)
    ? []
    : [{ ...at, message: 'store.url: must be sqlite:<file>, such as sqlite:parley.db' }]
}

/** Builds the settings of the session tools. Each agent named must be one that there is. */
function buildSessionTools(
  { tools }: ConfigFile,
  known: readonly AgentId[],
): { readonly sessionTools: SessionToolSettings; readonly mistakes: readonly Mistake[] } {
  const agents = tools.sessions.agents.map(toAgentId)
  const there = new Set(known)
  const mistakes = agents.flatMap((agent, index): Mistake | [] => {
    if (there.has(agent)) return []
    return {
      path: ['tools', 'sessions', 'agents', index],
      // Compares the name with all others: it is put into words only where it is read.
      get message() {
        const message = `tools.sessions.agents[${index}]: there is no agent ${agent}; known: ${known.join(', ')}`
        return `${message}${suggestion(agent, known)}`
      },
    }
  })
  return { mistakes, sessionTools: { agents, inGroups: tools.sessions.inGroups } }
}

/** The part of the file that routing decides by. The order of its lists is kept: traces name rules by their index. */
function toPolicy(file: ConfigFile, agents: readonly AgentId[], traits: TraitsByChannel): RoutingPolicy {
  const { routing, session } = file
  return {
    people: Object.entries(file.people).map(([name, { timezone, ...person }]) => ({
      ...{ id: toPersonId(name), ...person },
      ...(timezone === undefined ? {} : { timezone }),
    })),
    agents,
    access: routing.access,
    ownerAlwaysTriggers: routing.ownerAlwaysTriggers,
    wakeWords: routing.wakeWords,
    edits: routing.edits,
    deletions: routing.deletions,
    botBudget: routing.botBudget,
    dispatch: routing.dispatch.map(({ shadow: _shadow, ...rule }) => rule),
    sendPolicy: session.sendPolicy,
    scope: session.scope,
    dimensions: session.dimensions,
    channelDimensions: channelDimensions(file, traits),
    direct: session.direct,
    traits,
  }
}

/** Those of the channel's block, else those its platform has by itself: threads are kept apart (K12). */
function channelDimensions({ channels }: ConfigFile, traits: TraitsByChannel): RoutingPolicy['channelDimensions'] {
  return Object.fromEntries(
    Object.entries(traits).flatMap(([channel, { dimensions: usual }]) => {
      const dimensions = channels[channel]?.dimensions ?? usual
      return dimensions === undefined ? [] : [[channel, dimensions] as const]
    }),
  )
}

function toToolRule({ approvers, ...rule }: ConfigFile['tools']['policy'][number]): ToolRule {
  return {
    ...{ ...rule, who: rule.who.map(toPersonId) },
    ...(approvers === undefined ? {} : { approvers: approvers.map(toPersonId) }),
  }
}

/** Every zone of a person that is none. */
function unknownZoneMistakes({ people }: ConfigFile): Mistake[] {
  return Object.entries(people).flatMap(([name, { timezone }]): Mistake | [] => {
    if (timezone === undefined || isZone(timezone)) return []
    const message = `people.${name}.timezone: there is no time zone ${timezone}; write one such as Europe/Berlin or UTC`
    return { path: ['people', name, 'timezone'], message }
  })
}
