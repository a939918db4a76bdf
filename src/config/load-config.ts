import { type Channels, createChannels } from '../core/channel-traits.ts'
import { ParleyError } from '../core/errors.ts'
import type { RoutingPolicy } from '../core/policy.ts'
import { buildConfig } from './build-config.ts'
import { type CheckTiming, timingMistakes } from './build-schedules.ts'
import type { Config } from './config.ts'
import { describeIssue, explainIssues } from './describe-issue.ts'
import { choicesText, environmentWarnings, simplest, withEnvironment } from './environment.ts'
import { type ConfigPath, configError, formatPath, leadingPath, type Mistake } from './mistake.ts'
import { environmentFor, unreadHere } from './places.ts'
import { readSource, type Source, type SourceOptions } from './read-source.ts'
import { isStoreKey, resolveReferences } from './references.ts'
import { type ChannelCatalogue, type ConfigFile, createFileSchema, traitsOf } from './schema.ts'
import { namesSecret, Secret } from './secrets.ts'
import { setAside } from './set-aside.ts'
import { withoutSecrets } from './without-secrets.ts'

export interface LoadOptions extends SourceOptions {
  readonly catalogue: ChannelCatalogue
  /** Tool groups an agent may name beside the built-in ones. */
  readonly toolGroups?: readonly string[]
  /** Asked about the times of each schedule; without it they are only checked at the start. */
  readonly checkTiming?: CheckTiming
  /** Asked about the rules put together: throws `config`, its message beginning with a path; likewise. */
  readonly checkRules?: (policy: RoutingPolicy) => Promise<unknown>
  /**
   * run (the default): as `parley start` needs it. check: the same, and all that references name has to be there. ask:
   * to find a running daemon or its store; whoever asks may have none of the daemon's secrets and variables, so neither
   * a secret nor a channel needs to be there. store: to put a store back before anything else is in its place; nothing
   * is read but the settings of the store.
   */
  readonly use?: 'run' | 'check' | 'ask' | 'store'
}

interface Loaded {
  readonly config: Config
  /** Every secret value in it, for the sinks that redact by value. */
  readonly secrets: readonly string[]
  /** Returns the line of the file, from 1, to which a warning belongs by the path it begins with. */
  lineOf(this: void, warning: string): number | undefined
}

/**
 * Reads the configuration once: `path`, else PARLEY_CONFIG, else the usual file, else the environment alone. Nothing
 * else reads the environment. Throws `config` naming file, line, path and remedy of each mistake; never a secret.
 */
export async function loadConfig(given: LoadOptions): Promise<Loaded> {
  const source = await readSource(given)
  const { env, ...place } = environmentFor(source.file, given)
  const options = { ...given, env }
  const { catalogue, texts, use = 'run' } = options
  const known = createChannels(traitsOf(catalogue))
  const isAsked = use === 'ask' || use === 'store'
  const tree = use === 'store' ? storeIn(source.tree) : withEnvironment(source.tree, env, known)
  const resolved = resolveReferences(tree, {
    env,
    folder: source.folder,
    ...(texts === undefined ? {} : { texts }),
    tokenForm: (channel) => known.traits(channel).token,
  })
  const { value, mistakes: absent, down, warnings: missingKeys, keyless, keyAbsent } = setAside(resolved)
  const unresolved = {
    run: absent,
    check: resolved.mistakes,
    ask: absent.filter((mistake) => !isAbsentSecret(mistake)),
    store: absent.filter((mistake) => !isAbsentSecret(mistake)),
  }[use]
  const { file, mistakes: read } = readFile(value, { catalogue, unresolved, source })
  const built = buildConfig(file, { ...options, ...source, down, known, keyless, keyAbsent })
  const timing = options.checkTiming ? await timingMistakes(file, options.checkTiming) : []
  const rules = !isAsked && options.checkRules ? await ruleMistakes(built.config, options.checkRules) : []
  const follows = mayFollow(read)
  const mistakes = [...read, ...[...built.mistakes, ...timing, ...rules].filter((one) => !follows(one))]
  if (mistakes.length > 0) throw configError(source.file, mistakes, ({ path }) => source.lineOf(path))
  const unused = source.file === undefined ? [...environmentWarnings(env, known), ...unreadHere(options)] : []
  const channels = Object.keys(file.channels).length + down.length
  // Programs may be all that it is for: the API is a way in too.
  if (!isAsked && channels === 0 && file.http === undefined) throw noChannel(options, source, { known, also: unused })
  const { agents, warnings: found } = withoutSecrets(built.config.agents, resolved.keys)
  const others = [...resolved.warnings, ...unused, ...built.config.warnings, ...found]
  // The other warnings may only follow from the variable that is not set.
  const warnings = resolved.mistakes.length > 0 && !isAsked ? missingKeys : others
  const secrets = resolved.keys.map((key) => new Secret(key))
  const lineOf = (warning: string): number | undefined => source.lineOf(leadingPath(warning))
  const config = deepFreeze({ ...built.config, ...place, agents, secrets, warnings })
  return { config, secrets: resolved.secrets, lineOf }
}

function storeIn(tree: unknown): unknown {
  const { store } = Object(tree)
  return store === undefined ? {} : { store }
}

interface Reading {
  readonly catalogue: ChannelCatalogue
  readonly unresolved: readonly Mistake[]
  readonly source: Source
}

/**
 * Checks the tree; every mistake of it is reported at once, a reference that cannot be resolved only as such. Returns
 * what the file says where the references are all that is wrong, so that they hide no other mistake.
 */
function readFile(
  tree: unknown,
  { catalogue, unresolved, source }: Reading,
): { readonly file: ConfigFile; readonly mistakes: readonly Mistake[] } {
  const result = createFileSchema(catalogue).safeParse(tree, { error: describeIssue })
  const told = new Set(unresolved.map(({ path }) => path.join('\0')))
  const issues = result.success ? [] : explainIssues(result.error.issues, { catalogue, tree })
  const mistakes = [...unresolved, ...issues.filter(({ path }) => !told.has(path.join('\0')))]
  if (!result.success) throw configError(source.file, mistakes, ({ path }) => source.lineOf(path))
  return { file: result.data, mistakes }
}

/** Returns what is true for a mistake that may come from one of these references: in its value, or around it. */
function mayFollow(unresolved: readonly Mistake[]): (mistake: Mistake) => boolean {
  const values = new Set(unresolved.map(({ path }) => formatPath(path)))
  const around = new Set(unresolved.flatMap(({ path }) => waysTo(path)))
  return ({ path }) => around.has(formatPath(path)) || waysTo(path).some((way) => values.has(way))
}

/** Returns the path and those of all parts that it stands in. */
function waysTo(path: ConfigPath): readonly string[] {
  return [...path.keys()].map((at) => formatPath(path.slice(0, at + 1)))
}

function isAbsentSecret({ missing, path }: Mistake): boolean {
  return missing === true && (namesSecret(String(path.at(-1))) || isStoreKey(path))
}

/**
 * Returns the mistakes that show only when the rules are compiled: just the first, because the compiler stops there.
 */
async function ruleMistakes(
  { routing }: Config,
  check: (policy: RoutingPolicy) => Promise<unknown>,
): Promise<Mistake[]> {
  try {
    await check(routing)
    return []
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'config') throw error
    return [{ path: leadingPath(error.message), message: error.message }]
  }
}

function noChannel(
  options: LoadOptions,
  { file, tree }: Source,
  { known, also }: { readonly known: Channels; readonly also: readonly string[] },
): ParleyError {
  if (file === undefined) return new ParleyError('config', choicesText(options, known, also))
  if (Object.keys(Object(tree)).length === 0)
    return new ParleyError('config', `${file}: channels: no channel is configured: the file is empty; run: parley init`)
  const { channel, variable } = simplest(known)
  const remedy = `add channels.${channel} (config/parley.example.yaml shows how), set ${variable}, or add http for programs alone`
  return new ParleyError('config', `${file}: channels: no channel is configured; ${remedy}`)
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}
