import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { AgentProfile } from '../core/agent-profile.ts'
import { type AgentId, toAgentId } from '../core/ids.ts'
import { mcpGroup } from '../core/mcp.ts'
import { ownGroup } from '../core/own-group.ts'
import { DEFAULT_PROMPT } from './default-prompt.ts'
import { suggestion } from './describe-issue.ts'
import { type ConfigPath, formatPath, type Mistake } from './mistake.ts'
import { readBounded } from './read-bounded.ts'
import { readSkills } from './read-skills.ts'
import type { ConfigFile } from './schema.ts'

const DEFAULT_MODEL = 'anthropic/claude-sonnet-5-5'
const DEFAULT_OF_OPENAI = 'openai/gpt-5.4'
/** The providers of models, each with what a key of it is set by. */
const KEYS: Readonly<Record<string, string>> = {
  anthropic: 'set models.anthropic.apiKey or ANTHROPIC_API_KEY',
  openai: 'set models.openai.apiKey or OPENAI_API_KEY, or models.openai.baseUrl for a server that needs none',
}
const SCRIPTED = 'scripted/'
const ECHO = `${SCRIPTED}echo`
const DEFAULT_TOOLS: readonly string[] = ['time']
const BUILT_IN_TOOLS: readonly string[] = [
  ...['time', 'sessions', 'message', 'files', 'ask', 'react', 'task', 'schedule', 'web', 'memory'],
]

type AgentBlock = ConfigFile['agents'][number]

interface AgentOptions {
  /** The folder that prompt files are relative to. */
  readonly folder: string
  /** Tool groups beside the built-in ones. */
  readonly toolGroups?: readonly string[]
  /**
   * The providers whose key the file names and that cannot be had now, which is reported elsewhere: no agent becomes an
   * echo instead.
   */
  readonly keyless: readonly string[]
}

interface Findings {
  readonly mistakes: Mistake[]
  readonly warnings: string[]
}

/**
 * The agents with model, prompt and tools. Without a key for a model an agent echoes each message, and a warning says
 * so.
 */
export function buildAgents(file: ConfigFile, options: AgentOptions): Findings & { readonly agents: AgentProfile[] } {
  const found: Findings = { mistakes: [], warnings: [] }
  const agents = file.agents.map((block, index) => ({
    id: toAgentId(block.id),
    model: modelOf(block, index, { file, options, found }),
    ...optionsOf(block),
    ...fallbackOf(block, index, { file, options, found }),
    prompt: promptOf(block, index, { options, found }),
    tools: toolsOf(block, index, { options, found, late: lateGroups(file) }),
    ...skillsOf(block, index, { options, found }),
  }))
  for (const [index, block] of file.agents.entries())
    found.warnings.push(...scriptWarnings(block, index, options.folder))
  for (const [index, { model }] of (file.workspaces ?? []).entries())
    checkProvider(model, ['workspaces', index, 'model'], { providers: providersOf(file, options), found })
  for (const [index, { precheck }] of file.routing.access.groups.entries()) {
    const path = ['routing', 'access', 'groups', index, 'precheck', 'model']
    if (precheck) checkProvider(precheck.model, path, { providers: providersOf(file, options), found })
  }
  const { cheaperModel } = file.budgets
  if (cheaperModel !== undefined)
    checkProvider(cheaperModel, ['budgets', 'cheaperModel'], { providers: providersOf(file, options), found })
  const earlier = new Set<AgentId>()
  for (const [index, { id }] of agents.entries()) {
    const taken = earlier.has(id)
    earlier.add(id)
    if (!taken) continue
    const message = `agents[${index}].id: there is another agent ${id}; names are compared without case`
    found.mistakes.push({ path: ['agents', index, 'id'], message })
  }
  return { agents, ...found }
}

/** Returns the settings that are taken as they stand. */
function optionsOf({
  models,
  maxSteps,
  summaryModel,
  contextTokens,
  answerTokens,
  voice,
}: AgentBlock): Pick<
  AgentProfile,
  'models' | 'maxSteps' | 'summaryModel' | 'contextTokens' | 'answerTokens' | 'voice'
> {
  return {
    ...(models === undefined ? {} : { models }),
    ...(maxSteps === undefined ? {} : { maxSteps }),
    ...(summaryModel === undefined ? {} : { summaryModel }),
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(answerTokens === undefined ? {} : { answerTokens }),
    ...(voice === undefined ? {} : { voice }),
  }
}

function modelOf(
  { model }: AgentBlock,
  index: number,
  at: { file: ConfigFile; options: AgentOptions; found: Findings },
): string {
  const { file, options, found } = at
  const path = ['agents', index, 'model']
  const providers = providersOf(file, options)
  if (model === undefined) return defaultOf(formatPath(path), { file, providers, found })
  checkProvider(model, path, { providers, found })
  return model
}

/**
 * Returns the models that answer in place of the agent's own; they and the one for summaries are checked as that is.
 */
function fallbackOf(
  { fallback, summaryModel }: AgentBlock,
  index: number,
  { file, options, found }: { file: ConfigFile; options: AgentOptions; found: Findings },
): Pick<AgentProfile, 'fallback'> {
  const providers = providersOf(file, options)
  if (summaryModel !== undefined) checkProvider(summaryModel, ['agents', index, 'summaryModel'], { providers, found })
  if (fallback === undefined) return {}
  for (const [nth, model] of fallback.entries())
    checkProvider(model, ['agents', index, 'fallback', nth], { providers, found })
  return { fallback }
}

/** Returns the providers that are configured, also those whose key cannot be had now. */
function providersOf({ models }: ConfigFile, { keyless }: AgentOptions): readonly string[] {
  return [...Object.keys(models), ...keyless]
}

/** Adds a warning for a model without a key, and a mistake for one of no provider there is. */
function checkProvider(
  model: string,
  path: ConfigPath,
  { providers, found }: { readonly providers: readonly string[]; readonly found: Findings },
): void {
  const [provider = ''] = model.split('/', 1)
  const key = Object.hasOwn(KEYS, provider) ? KEYS[provider] : undefined
  if (key !== undefined && !providers.includes(provider)) {
    found.warnings.push(`${formatPath(path)}: ${model} has no key and cannot answer; ${key}`)
  }
  if (key === undefined && provider !== 'scripted') {
    const message = `${formatPath(path)}: no such provider; write anthropic/<model>, openai/<model>, scripted/echo or scripted/<file>`
    found.mistakes.push({ path, message })
  }
}

/** Returns the model of an agent that names none. The models of another server than OpenAI's are not known. */
function defaultOf(
  path: string,
  { file, providers, found }: { file: ConfigFile; providers: readonly string[]; found: Findings },
): string {
  if (providers.includes('anthropic')) return DEFAULT_MODEL
  const elsewhere = file.models.openai?.baseUrl !== undefined
  if (providers.includes('openai') && !elsewhere) return DEFAULT_OF_OPENAI
  const why = elsewhere
    ? 'names no model, so the agent repeats what people say; write openai/<model> as models.openai.baseUrl calls it'
    : 'no model key is set, so the agent repeats what people say; set ANTHROPIC_API_KEY or OPENAI_API_KEY'
  found.warnings.push(`${path}: ${why}`)
  return ECHO
}

/** Returns a warning for each script an agent names that is not there. */
function scriptWarnings(
  { model, models = [], fallback = [], summaryModel }: AgentBlock,
  index: number,
  folder: string,
): readonly string[] {
  const named = [
    [`agents[${index}].model`, model],
    [`agents[${index}].summaryModel`, summaryModel],
    ...models.map((one, nth) => [`agents[${index}].models[${nth}]`, one]),
    ...fallback.map((one, nth) => [`agents[${index}].fallback[${nth}]`, one]),
  ]
  return named.flatMap(([path, one]) => {
    if (one === ECHO || !one?.startsWith(SCRIPTED)) return []
    const script = resolve(folder, one.slice(SCRIPTED.length))
    return existsSync(script) ? [] : [`${path}: there is no script ${script}; write it, or name another model`]
  })
}

function promptOf({ prompt }: AgentBlock, index: number, at: { options: AgentOptions; found: Findings }): string {
  if (prompt === undefined) return DEFAULT_PROMPT
  const path = resolve(at.options.folder, prompt)
  try {
    return readBounded(path).text
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'an error'
    const message = `agents[${index}].prompt: ${path} cannot be read (${code}); write the file, or leave the key out`
    at.found.mistakes.push({ path: ['agents', index, 'prompt'], message })
    return ''
  }
}

function skillsOf(
  { skills: folder }: AgentBlock,
  index: number,
  { options, found }: { readonly options: AgentOptions; readonly found: Findings },
): Pick<AgentProfile, 'skills'> {
  if (folder === undefined) return {}
  const { skills, mistakes } = readSkills(resolve(options.folder, folder), ['agents', index, 'skills'])
  found.mistakes.push(...mistakes)
  return { skills }
}

/** The groups that are made by what the file names. */
function lateGroups({ tools: { mcp, own } }: ConfigFile): readonly string[] {
  return [...Object.keys(mcp).map(mcpGroup), ...Object.keys(own).map(ownGroup)]
}

function toolsOf(
  { tools }: AgentBlock,
  index: number,
  at: { options: AgentOptions; found: Findings; late: readonly string[] },
): readonly string[] {
  const available = [...BUILT_IN_TOOLS, ...at.late, ...(at.options.toolGroups ?? [])]
  const path = `agents[${index}].tools`
  for (const [place, tool] of (tools ?? []).entries()) {
    if (available.includes(tool)) continue
    const message = `${path}[${place}]: there are no such tools; known: ${available.join(', ')}${meantGroup(tool, available)}`
    at.found.mistakes.push({ path: ['agents', index, 'tools', place], message })
  }
  return tools === undefined ? DEFAULT_TOOLS : tools.filter((tool) => available.includes(tool))
}

/** Says which group was probably meant: a server or a file by its bare name, the name of a tool of a group, a slip. */
function meantGroup(typed: string, known: readonly string[]): string {
  const [kind = ''] = typed.split('.', 1)
  const bare = [mcpGroup(typed), ownGroup(typed)].find((one) => known.includes(one))
  const group = bare ?? typed.split('_').find((part) => known.includes(part))
  if (group !== undefined) return `; did you mean \`${group}\`?`
  const near = suggestion(typed, known)
  if (near !== '' || (kind !== 'mcp' && kind !== 'own') || kind === typed) return near
  return `; tools.${kind} has no ${typed.slice(kind.length + 1)}, which would bring them`
}
