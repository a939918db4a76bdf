import { formatAddress } from '../core/address.ts'
import { type BudgetLimits, PERIODS } from '../core/budget.ts'
import { limitInWords } from '../core/budget-words.ts'
import { sizeInWords } from '../core/content-words.ts'
import { DEFAULT_FILE_LIMITS } from '../core/media.ts'
import type { PeopleReport } from '../core/operate-people.ts'
import {
  type Audience,
  type BotPolicy,
  botsUnless,
  type DeletionPolicy,
  type EditPolicy,
  type GroupRule,
  type PlaceMatch,
  type SendRule,
} from '../core/policy.ts'
import { formatMissed } from '../core/schedule.ts'
import { grouped } from '../core/spending.ts'
import type { Config } from './config.ts'
import { explainSessions } from './explain-sessions.ts'
import { explainAgents, explainTools } from './explain-tools.ts'
import { list } from './explained.ts'

/**
 * Describes the configuration with every default filled in, for an operator: who may talk where, who answers, what is
 * sent. One line a fact, each beginning with its path. No secret is part of it. `known` are the people and places of
 * the store, whom no setting names; absent where there is no store yet.
 */
export function explainConfig(config: Config, known?: KnownPeople): readonly string[] {
  return [
    `configuration: ${config.file ?? 'the environment (no file)'}`,
    `data: ${config.dataDir}, database ${config.store.path}`,
    ...explainAgents(config),
    ...(config.workspaces ?? []).map(({ name, model }) => `workspaces.${name}: model ${model}`),
    ...channelLines(config),
    ...peopleLines(config, known),
    ...accessLines(config),
    ...letInLines(known),
    ...dispatchLines(config),
    ...sendLines(config),
    ...explainSessions(config),
    ...explainTools(config),
    ...scheduleLines(config),
    ...budgetLines(config),
    mediaLine(config),
    ...httpLines(config),
    `store.key: ${keyText(config)}`,
    `store.keepRefusedDays: what was refused or ignored, commands and their answers go after ${config.store.keepRefusedDays ?? 30} days`,
    ...retentionLines(config),
    backupLine(config),
    ...config.warnings.map((warning) => `warning: ${warning}`),
  ]
}

function backupLine({ backup }: Config): string {
  if (backup === undefined) return 'backup: none by itself (backup: { every: day }); parley backup makes one'
  const { every, at, to, keep } = backup
  const when = typeof every === 'number' ? `every ${every} h` : `each ${every} at ${at}`
  return `backup: ${when} into ${to ?? 'backups in the state folder'}, kept: ${keep}`
}

function budgetLines({ budgets }: Config): string[] {
  if (budgets === undefined) return []
  const { strangers, total, cheaperModel } = budgets
  const all = [
    ['total', total],
    ...(['chat', 'topic', 'person', 'schedule'] as const).flatMap((kind) => [
      [`${kind}.each`, budgets[kind]?.each] as const,
      ...Object.entries(budgets[kind]?.only ?? {}).map(([name, own]) => [`${kind}.only.${name}`, own] as const),
    ]),
    ['strangers.each', strangers?.each],
    ['strangers.client', strangers?.client],
    ['strangers.together', strangers?.together],
  ] as const
  const lines = all.flatMap(([name, limits]) =>
    limits === undefined ? [] : [`budgets.${name}: ${limitsText(limits)}`],
  )
  return cheaperModel === undefined
    ? lines
    : [...lines, `budgets.cheaperModel: ${cheaperModel} from ${budgets.warnAt * 100} % on`]
}

function limitsText(limits: BudgetLimits): string {
  return (
    PERIODS.flatMap((period) => {
      const limit = limits[period]
      return limit === undefined ? [] : [`${limitInWords(limit)} a ${period}`]
    }).join(', ') || 'unlimited'
  )
}

function keyText({ store: { key } }: Config): string {
  return key === undefined
    ? 'none; the database and the files are readable by the user of the daemon alone, and not encrypted'
    : 'the database, its copies and the files are encrypted with it'
}

function retentionLines({ retention: { days, rules } = { rules: [] } }: Config): readonly string[] {
  const kept = (limit: number | 'keep' | undefined): string =>
    typeof limit === 'number' ? `what was said is forgotten after ${limit} days` : 'what was said is kept'
  return [
    ...rules.map(
      (rule, at) => `retention.rules[${at}]: ${Object.values(rule.match).join(' ') || 'anywhere'}: ${kept(rule.days)}`,
    ),
    `retention.days: in ${rules.length === 0 ? 'all' : 'other'} conversations ${kept(days)}`,
  ]
}

function mediaLine({ media: { maxFilesPerPrompt, maxBytes, perPersonPerDay } = DEFAULT_FILE_LIMITS }: Config): string {
  const [most, aDay] = [sizeInWords(maxBytes), sizeInWords(perPersonPerDay)]
  return `media: one answer reads ${maxFilesPerPrompt} files, each up to ${most}, and ${aDay} of one person a day; the others are named`
}

function httpLines({ http }: Config): readonly string[] {
  if (http === undefined) return ['http: none; the API listens on a socket that only this user opens']
  const { host, port, hosts, origins } = http
  const named = hosts.length === 0 ? '' : `, reached as ${list(hosts)} too`
  const pages = origins.length === 0 ? '' : `, used by the pages of ${list(origins)}`
  return [`http: the API listens on ${host}, ${port === 0 ? 'a free port' : `port ${port}`}${named}${pages}`]
}

function channelLines({ channels }: Config): string[] {
  return Object.entries(channels).map(([id, { accounts }]) => {
    const named = Object.entries(accounts).map(([name, settings]) => `${name}${modeText(settings)}`)
    return `channels.${id}: accounts ${list(named)}`
  })
}

/** Returns the mode in which an account receives, if its platform leaves a choice. */
function modeText(settings: unknown): string {
  return typeof settings === 'object' && settings !== null && 'mode' in settings ? ` (${settings.mode})` : ''
}

/** The people and places that the store knows. */
export type KnownPeople = Pick<PeopleReport, 'people' | 'letIn'>

function peopleLines({ routing: { people } }: Config, known: KnownPeople = { people: [], letIn: [] }): string[] {
  const lines = people.map(
    ({ id, role, ids, timezone }) =>
      `people.${id}: ${role}, ${list(ids)}${timezone === undefined ? '' : `, in ${timezone}`}`,
  )
  const stored = known.people.flatMap(({ name, role, ids }) =>
    ids.flatMap(({ id, from, overruledBy }) =>
      from === 'configuration' || overruledBy !== undefined
        ? []
        : [
            `people: ${id} is ${name === role ? `the ${role}` : `${name}, ${role}`}, by ${from === 'claim' ? 'the claim code' : 'a link'}`,
          ],
    ),
  )
  const owner = [...people, ...known.people].some(({ role }) => role === 'owner')
  const unowned =
    'people: no owner yet; whoever sends the bot the code that its start and `parley status` print becomes it'
  return owner ? [...lines, ...stored] : [...lines, ...stored, unowned]
}

function letInLines({ letIn }: KnownPeople = { people: [], letIn: [] }): string[] {
  return letIn.map(({ kind, key, name, by, at }) => {
    const setting = kind === 'place' ? 'groups' : 'direct'
    const called = name === '' ? '' : ` (${name})`
    return `routing.access.${setting}: ${key}${called} too, let in by ${by} on ${new Date(at).toISOString().slice(0, 10)}`
  })
}

const WHO: Readonly<Record<Audience, string>> = {
  owner: 'the owner only',
  allowlist: 'everybody under people',
  public: 'anyone',
}

const EDITS: Readonly<Record<EditPolicy, string>> = {
  ignore: 'the agent never hears of an edit',
  update: 'a waiting message is read as edited, a later edit is told with the next prompt',
  rerun: 'as update, and what is addressed to the agent is answered again',
}

const DELETIONS: Readonly<Record<DeletionPolicy, string>> = {
  ignore: 'the agent keeps what was deleted',
  redact: 'a deleted message is in no later prompt, and not answered if it still waits',
}

function accessLines({ routing }: Config): string[] {
  const { access, ownerAlwaysTriggers, wakeWords, edits, deletions, botBudget } = routing
  const groups = access.groups.map(
    (rule, index) =>
      `routing.access.groups[${index}]: ${placeText(rule.match)}: ${WHO[rule.who]}, trigger ${rule.trigger}${ownSettings(rule)}`,
  )
  return [
    `routing.access.direct: ${WHO[access.direct]}`,
    ...groups,
    `routing.access.groups: ${groups.length === 0 ? 'every group' : 'every other group'}: the owner only`,
    `routing.ownerAlwaysTriggers: ${ownerAlwaysTriggers ? 'the owner is answered without a mention: whatever they say in a group costs a call, and false ends that' : 'the owner must mention the agent like everybody'}`,
    `routing.wakeWords: ${wakeText(wakeWords)}`,
    `routing.edits: ${EDITS[edits]}`,
    `routing.deletions: ${DELETIONS[deletions]}`,
    `routing.botBudget: in one chat ${botBudget.turns} answers and ${grouped(botBudget.tokens)} tokens for other bots, until a person is answered or ${botBudget.quietMinutes} quiet minutes`,
  ]
}

/** Returns the settings in which a group rule differs from `routing`, and its policy for bots. */
function ownSettings(rule: GroupRule): string {
  const { precheck, ownerAlwaysTriggers, wakeWords, followThreads, edits, deletions } = rule
  const { bots = botsUnless(rule.who), botIds = [] } = rule
  const own = [
    ...(precheck === undefined ? [] : [`${precheck.model} is asked first`]),
    ...(ownerAlwaysTriggers === undefined ? [] : [`the owner ${ownerAlwaysTriggers ? 'needs no' : 'needs a'} mention`]),
    ...(wakeWords === undefined ? [] : [`wake words ${wakeText(wakeWords)}`]),
    ...(followThreads ? ['threads are followed until 24 quiet hours'] : []),
    ...(edits === undefined ? [] : [`edits: ${EDITS[edits]}`]),
    ...(deletions === undefined ? [] : [`deletions: ${DELETIONS[deletions]}`]),
    botsText(bots, botIds),
  ]
  return own.map((setting) => `; ${setting}`).join('')
}

function botsText(bots: BotPolicy, ids: readonly string[]): string {
  if (bots === 'ignore') return 'bots: what apps and other bots say is ignored'
  const known = 'bots: what apps and other bots say is known'
  if (bots === 'context' || ids.length === 0) return `${known} and never answered`
  return `${known}, and answered ${bots === 'allow' ? 'as people are' : 'where they mention the agent'}: ${list(ids)}`
}

function wakeText(words: readonly string[]): string {
  return words.length === 0 ? 'none' : words.map((word) => `"${word}"`).join(', ')
}

function dispatchLines({ routing: { dispatch, agents } }: Config): string[] {
  const rules = dispatch.map(({ name, match, agent, dimensions }, index) => {
    const kept = dimensions === undefined ? '' : `, dimensions ${list(dimensions)}`
    const label = name === undefined ? '' : ` "${name}"`
    return `routing.dispatch[${index}]${label}: ${placeText(match)}: agent ${agent ?? agents[0]}${kept}`
  })
  return [...rules, `routing.dispatch: ${rules.length === 0 ? 'everything' : 'everything else'}: agent ${agents[0]}`]
}

function sendLines({ routing: { sendPolicy } }: Config): string[] {
  const rules = sendPolicy.rules.map(
    ({ match, action }, index) => `session.sendPolicy.rules[${index}]: ${placeText(match)}: ${action ?? 'allow'}`,
  )
  return [...rules, `session.sendPolicy.default: ${sendPolicy.default}`]
}

function scheduleLines({ schedules, agents }: Config): string[] {
  return schedules.map(({ id, definition: { cron, timezone, agent, digestOf, deliverTo, missed, overlap } }) => {
    const digest = digestOf === undefined ? '' : `, digest of ${formatAddress(digestOf)}`
    const policy = `missed ${formatMissed(missed)}, overlap ${overlap}`
    const who = agent ?? agents[0]?.id
    return `schedules.${id}: "${cron}" in ${timezone}, agent ${who}${digest}, to ${formatAddress(deliverTo)}, ${policy}`
  })
}

type Match = PlaceMatch & SendRule['match'] & { readonly sender?: string; readonly mentioned?: boolean }

function placeText(match: Match): string {
  const fields = Object.entries(match).map(([key, value]) => `${key} ${value}`)
  return fields.length === 0 ? 'anywhere' : fields.join(', ')
}
