import { formatAddress } from '../core/address.ts'
import type { AgentProfile } from '../core/agent-profile.ts'
import type { ToolRule } from '../core/approval.ts'
import { DEFAULT_CHECKPOINTS, MEMORY_GROUP } from '../core/memory.ts'
import { NO_MODEL } from '../core/model.ts'
import { hostOf } from '../core/model-server.ts'
import type { AudioSettings, Config, HookSettings, InboundHookSettings, McpSettings } from './config.ts'
import { list } from './explained.ts'

/** Describes whom tools ask, what of the operator's own or elsewhere is called, and memory. No secret is part of it. */
export function explainTools({
  audio,
  hooks = [],
  http,
  mcp = [],
  ownTools = [],
  agents,
  session,
  toolPolicy = [],
}: Config): readonly string[] {
  return [
    ...toolPolicy.map(ruleLine),
    `tools.policy: ${toolPolicy.length === 0 ? 'what' : 'else what'} acts outside of its conversation is asked about, and the rest is allowed`,
    ...mcp.map(serverLine),
    ...ownTools.map(({ name, path }) => `tools.own.${name}: ${path}, which runs in the daemon`),
    ...hooks.map(hookLine),
    ...(http?.hooks ?? []).map(inboundLine),
    ...audioLines(audio),
    checkpointLine(agents, session.checkpoint),
  ]
}

function checkpointLine(agents: Config['agents'], own: Config['session']['checkpoint']): string {
  const remembering = agents.filter(({ tools }) => tools.includes(MEMORY_GROUP)).map(({ id }) => id)
  if (remembering.length === 0) return 'session.checkpoint: no agent has the tools memory, so there is no checkpoint'
  const { turns, quietGroupMessages, idleMinutes } = { ...DEFAULT_CHECKPOINTS, ...own }
  return `session.checkpoint: ${remembering.join(', ')} looks for what is worth remembering after ${turns} turns, ${quietGroupMessages} messages of a group without an answer, or ${idleMinutes} minutes without a message`
}

function ruleLine({ tools, who, in: places, action, approvers = [] }: ToolRule, index: number): string {
  const where = places === undefined ? '' : ` in ${places.join(', ')}`
  const also = approvers.length === 0 ? '' : `, and ${approvers.join(', ')} may answer too`
  return `tools.policy[${index}]: ${tools.join(', ')} for ${who.join(', ')}${where}: ${action}${also}`
}

function serverLine({ name, at, tools, inside, bounds }: McpSettings): string {
  const where = at.kind === 'program' ? `the program ${at.command}` : `the server at ${originOf(at.url)}`
  const some = tools === undefined ? 'all tools' : `the tools ${tools.join(', ')}`
  const free = inside.flatMap((one) => one.tools)
  const yes = free.length === 0 ? 'each asks for a yes' : `a yes for all but ${free.join(', ')}`
  const held = bounds === undefined ? 'calls are not checked' : `calls are checked, tier ${bounds.tier}`
  return `tools.mcp.${name}: ${where}, ${some}, ${yes}, ${held}`
}

function hookLine({ name, on, at, timeoutMs }: HookSettings): string {
  const what = at.kind === 'command' ? at.command : originOf(at.url)
  return `hooks.${name}: ${on.join(', ')}: ${what}, for ${timeoutMs} ms at most`
}

function inboundLine({ name, signature, agent, deliverTo }: InboundHookSettings): string {
  const who = agent === undefined ? 'the default agent' : `agent ${agent}`
  const where = deliverTo === undefined ? 'in its session' : `to ${formatAddress(deliverTo)}`
  return `http.hooks.${name}: called with a ${signature} signature, read by ${who}, answered ${where}`
}

function audioLines(audio: AudioSettings | undefined): readonly string[] {
  if (audio === undefined) return ['audio: none; voice notes are named in words, and no answer is spoken']
  const { baseUrl, transcribe, speak } = audio
  const heard = transcribe === undefined ? 'are named in words' : `are transcribed by ${transcribe.model}`
  const spoken = speak === undefined ? 'no answer is spoken' : `answers can be spoken by ${speak.model}`
  return [`audio: voice notes ${heard}, ${spoken}, at ${originOf(baseUrl)}`]
}

/** A path or a query may hold a token. */
function originOf(url: string): string {
  return new URL(url).origin
}

/** Describes the agents and the servers of their models. No secret is part of it. */
export function explainAgents(config: Config): readonly string[] {
  return [...config.agents.map(agentLine), ...serverLines(config)]
}

function agentLine({ id, model, fallback = [], summaryModel, tools, skills = [], voice }: AgentProfile): string {
  const others = fallback.length === 0 ? '' : `, in its place ${list(fallback)}`
  const summaries = summaryModel === undefined ? '' : `, summaries by ${summaryModel}`
  const known = skills.length === 0 ? '' : `, skills ${list(skills.map(({ name }) => name))}`
  const spoken = voice === undefined || voice === 'never' ? '' : `, answers spoken: ${voice}`
  const own = model === NO_MODEL ? 'no model, and it only says so' : `model ${model}`
  return `agents.${id}: ${own}${others}${summaries}, tools ${list(tools)}${known}${spoken}`
}

function serverLines({ models }: Config): string[] {
  return Object.entries(models).map(([name, server]) => {
    const key =
      server.keyAbsent === undefined
        ? server.apiKey === undefined
          ? 'without a key'
          : 'with a key'
        : 'its key is absent'
    const api = server.kind === 'openai' ? 'Chat Completions' : 'the Messages API'
    return `models.${name}: ${api} at ${hostOf(server)}, ${key}`
  })
}
