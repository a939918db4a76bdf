import { type Address, formatAddress, parseAddress } from '../core/address.ts'
import type { AgentProfile } from '../core/agent-profile.ts'
import type { BudgetConfig, BudgetLimits, BudgetRules, Limit, PriceList } from '../core/budget.ts'
import type { Channels } from '../core/channel-traits.ts'
import { toPersonId } from '../core/ids.ts'
import { isZone } from '../core/machine-zone.ts'
import { pricesOf } from '../core/model-server.ts'
import { foldPlatformId } from '../core/platform-id.ts'
import { costOf, isFree, LIST_PRICES, priceOf } from '../core/prices.ts'
import { strangeServer } from './build-models.ts'
import type { Config } from './config.ts'
import { suggestion } from './describe-issue.ts'
import { formatPath, type Mistake } from './mistake.ts'
import type { ConfigFile } from './schema.ts'
import { STRANGERS } from './schema-budgets.ts'

type Block = ConfigFile['budgets']
type FileLimits = NonNullable<Block['total']>
type FileRules = NonNullable<Block['chat']>
type RuleKind = 'chat' | 'topic' | 'person' | 'schedule'
const RULE_KINDS: readonly RuleKind[] = ['chat', 'topic', 'person', 'schedule']

const MICROS = 1_000_000

/** Builds the budgets of the daemon; a name in the file is written as the daemon writes it. */
export function buildBudgets(
  { budgets }: ConfigFile,
  { channels, models }: { readonly channels: Channels; readonly models: Config['models'] },
): BudgetConfig {
  const { timezone, warnAt, cheaperModel, total, strangers } = budgets
  const rules = RULE_KINDS.flatMap((kind) => {
    const own = budgets[kind]
    return own === undefined ? [] : [[kind, toRules(own, (name) => keyOf(kind, name, channels) ?? name)] as const]
  })
  return {
    ...(timezone === undefined ? {} : { timezone }),
    warnAt: warnAt / 100,
    ...(cheaperModel === undefined ? {} : { cheaperModel }),
    ...(total === undefined ? {} : { total: toLimits(total) }),
    ...Object.fromEntries(rules),
    ...(strangers === 'unlimited'
      ? {}
      : {
          strangers: {
            ...(strangers.each === 'unlimited' ? {} : { each: toLimits(strangers.each) }),
            ...(strangers.client === 'unlimited' ? {} : { client: toLimits(strangers.client) }),
            ...(strangers.together === 'unlimited' ? {} : { together: toLimits(strangers.together) }),
          },
        }),
    prices: pricesIn(budgets, models),
  }
}

/** Returns the prices of the file, before those of servers that are a public API by another name. */
function pricesIn({ prices }: Block, models: Config['models']): PriceList {
  return { ...pricesOf(models), ...prices }
}

function toRules({ each, only }: FileRules, key: (name: string) => string): BudgetRules {
  return {
    ...(each === undefined ? {} : { each: toLimits(each) }),
    ...(only === undefined
      ? {}
      : {
          only: Object.fromEntries(
            Object.entries(only).map(([name, own]) => [key(name), own === 'unlimited' ? {} : toLimits(own)]),
          ),
        }),
  }
}

function toLimits({ day, month }: FileLimits): BudgetLimits {
  return {
    ...(day === undefined ? {} : { day: toLimit(day) }),
    ...(month === undefined ? {} : { month: toLimit(month) }),
  }
}

function toLimit({ usd, tokens }: NonNullable<FileLimits['day']>): Limit {
  return {
    ...(tokens === undefined ? {} : { tokens }),
    ...(usd === undefined ? {} : { micros: Math.round(usd * MICROS) }),
  }
}

/** Returns the name of a payer as the daemon writes it; undefined for one of the wrong form. */
function keyOf(kind: RuleKind, name: string, channels: Channels): string | undefined {
  if (kind === 'schedule') return name
  if (kind === 'person') return name.includes(':') ? foldPlatformId(channels, name) : toPersonId(name)
  const address = addressIn(name, channels)
  return address === undefined || (address.topic === undefined) === (kind === 'topic')
    ? undefined
    : formatAddress(address)
}

function addressIn(name: string, { platforms }: Channels): Address | undefined {
  try {
    const address = parseAddress(name)
    return platforms.includes(address.channel) ? address : undefined
  } catch {
    return undefined
  }
}

/** Returns what is wrong with the names and the zone. */
export function budgetMistakes(file: ConfigFile, channels: Channels): Mistake[] {
  const { budgets, people, schedules } = file
  const mistakes: Mistake[] = []
  const add = (path: Mistake['path'], words: string): unknown =>
    mistakes.push({ path, message: `${formatPath(path)}: ${words}` })
  const { timezone } = budgets
  if (timezone !== undefined && !isZone(timezone))
    add(['budgets', 'timezone'], `there is no time zone ${timezone}; write one such as Europe/Berlin or UTC`)
  for (const kind of RULE_KINDS) {
    for (const name of Object.keys(budgets[kind]?.only ?? {})) {
      const path = ['budgets', kind, 'only', name] as const
      const words = wrongName(kind, name, {
        people: Object.keys(people),
        schedules: schedules.map(({ id }) => id),
        channels,
      })
      if (words !== undefined) add(path, words)
    }
  }
  return mistakes
}

interface Names {
  readonly people: readonly string[]
  readonly schedules: readonly string[]
  readonly channels: Channels
}

function wrongName(kind: RuleKind, name: string, { people, schedules, channels }: Names): string | undefined {
  switch (kind) {
    case 'chat':
    case 'topic': {
      if (keyOf(kind, name, channels) !== undefined) return undefined
      const topic = kind === 'topic' ? '/<topic>' : ''
      return `is no ${kind}; write <channel>:<direct|group|channel>:<chat>${topic}`
    }
    case 'person': {
      const known = people.map(toPersonId)
      if (name.includes(':') || known.includes(toPersonId(name))) return undefined
      return `there is nobody called ${name} under people; write one of those names, or <channel>:<id>${suggestion(name, people)}`
    }
    case 'schedule':
      return schedules.includes(name) ? undefined : `there is no schedule ${name}${suggestion(name, schedules)}`
  }
}

/** Tokens of the shortest prompt: the agent's own, and a message. */
const PROMPT = 500
const ANSWER_TOKENS = 4_096

type PricedAgent = Pick<AgentProfile, 'model' | 'fallback' | 'summaryModel' | 'answerTokens'>

/**
 * Returns a warning for each model without a price, where the file has a budget of its own, and for each budget that is
 * less than one call of the cheapest agent may cost.
 */
export function budgetWarnings(
  file: ConfigFile,
  { agents, models: servers }: Pick<Config, 'models'> & { readonly agents: readonly PricedAgent[] },
): readonly string[] {
  const { budgets } = file
  const prices = pricesIn(budgets, servers)
  const all = limitsIn(budgets)
  const counts = all.some(([, limit]) => !PRESET.has(limit))
  const models = new Set(modelsIn(file, agents))
  const strange = Object.keys(budgets.prices ?? {}).flatMap((model) => {
    const words = strangeServer(model, servers)
    return words === undefined ? [] : [[model, words] as const]
  })
  const meant = Object.fromEntries(Object.entries(prices).filter(([id]) => !strange.some(([other]) => other === id)))
  return [
    ...strange.map(([model, words]) => `${formatPath(['budgets', 'prices', model])}: ${words}`),
    ...(counts
      ? [...models].filter((model) => priceOf(model, prices) === undefined).map((model) => unpriced(model, meant))
      : []),
    ...all.flatMap(([path, own]) => tooSmall(path, own, { prices, agents })),
  ]
}

function unpriced(model: string, prices: PriceList): string {
  return `budgets.prices: ${model} has no price, so it is counted in tokens alone; write { input: …, output: … } for it${suggestion(model, [...Object.keys(prices), ...Object.keys(LIST_PRICES)])}`
}

function modelsIn({ audio, routing, budgets }: ConfigFile, agents: readonly PricedAgent[]): readonly string[] {
  return [
    ...agents.flatMap(({ model, fallback = [], summaryModel }) => [
      model,
      ...fallback,
      ...(summaryModel ? [summaryModel] : []),
    ]),
    ...routing.access.groups.flatMap(({ precheck }) => precheck?.model ?? []),
    ...(budgets.cheaperModel === undefined ? [] : [budgets.cheaperModel]),
    ...[audio?.transcribe, audio?.speak].flatMap((one) => (one ? [`audio/${one.model}`] : [])),
  ]
}

/** The limits that a file without a word of them has. */
const PRESET: ReadonlySet<unknown> = new Set(Object.values(STRANGERS).map(({ day }) => day))

type OwnLimit = NonNullable<FileLimits['day']>

/** Every limit with its path. */
function limitsIn(budgets: Block): readonly (readonly [path: string, limit: OwnLimit])[] {
  const inLimits = (path: string, limits: FileLimits | 'unlimited' | undefined): (readonly [string, OwnLimit])[] =>
    limits === undefined || limits === 'unlimited'
      ? []
      : (['day', 'month'] as const).flatMap((period) => {
          const limit = limits[period]
          return limit === undefined ? [] : [[`${path}.${period}`, limit] as const]
        })
  const { strangers } = budgets
  return [
    ...inLimits('budgets.total', budgets.total),
    ...RULE_KINDS.flatMap((kind) => {
      const { each, only = {} } = budgets[kind] ?? {}
      const single = Object.entries(only).flatMap(([name, own]) => inLimits(`budgets.${kind}.only.${name}`, own))
      return [...inLimits(`budgets.${kind}.each`, each), ...single]
    }),
    ...(strangers === 'unlimited'
      ? []
      : [
          ...inLimits('budgets.strangers.each', strangers.each),
          ...inLimits('budgets.strangers.client', strangers.client),
          ...inLimits('budgets.strangers.together', strangers.together),
        ]),
  ]
}

function tooSmall(
  path: string,
  { usd, tokens }: OwnLimit,
  { prices, agents }: { readonly prices: PriceList; readonly agents: readonly PricedAgent[] },
): readonly string[] {
  const calls = agents.filter(({ model }) => !isFree(model))
  const answers = calls.map(({ answerTokens = ANSWER_TOKENS }) => answerTokens)
  if (answers.length === 0) return []
  const least = Math.min(...answers) + PROMPT
  const costs = calls.map(({ model, answerTokens = ANSWER_TOKENS }) =>
    costOf({ input: PROMPT, output: answerTokens }, priceOf(model, prices)),
  )
  const cost = Math.min(...costs)
  const end = 'no call would be made'
  return [
    ...(tokens !== undefined && tokens < least
      ? [`${path}.tokens: is less than one answer may take (about ${least}), so ${end}`]
      : []),
    ...(usd !== undefined && usd * MICROS < cost
      ? [`${path}.usd: is less than one answer may cost (about $${(cost / MICROS).toFixed(3)}), so ${end}`]
      : []),
  ]
}
