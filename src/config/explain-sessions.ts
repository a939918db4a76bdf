import type { RoutingPolicy } from '../core/policy.ts'
import { CAPPED, capOf, type TurnCaps } from '../core/turn-cap.ts'
import { type Config, DEFAULT_SESSION_TOOLS, type SessionToolSettings, type WebSettings } from './config.ts'
import { list } from './explained.ts'

/** Describes which conversations share a session, how long its turns and answers become, and which of them it reads. */
export function explainSessions({
  agents,
  routing,
  session: {
    queue,
    publicTurns,
    answerParts = 20,
    answerAsFile,
    staleDays,
    turnCap = {},
    maxMessages = 98,
    maxCost,
    onExceed = 'stop',
  },
  sessionTools = DEFAULT_SESSION_TOOLS,
  web,
}: Config): readonly string[] {
  const own = Object.entries(routing.channelDimensions).map(([id, dimensions]) => `${id} ${list(dimensions)}`)
  return [
    `session.scope: ${routing.scope}`,
    `session.dimensions: ${[list(routing.dimensions), ...own].join('; ')}`,
    `session.direct: one session a ${routing.direct === 'main' ? 'daemon for the owner' : routing.direct}`,
    `session.queue: at most ${queue.max} waiting, a busy session: ${queue.busy}`,
    ...publicLines(publicTurns),
    `session.answerParts: an answer becomes ${answerParts} messages at most, and the last of them says where the rest is`,
    ...(answerAsFile === undefined
      ? []
      : [`session.answerAsFile: an answer of more than ${answerAsFile} messages goes out as a file`]),
    `session.turnCap: ${capsText(turnCap)}`,
    `session.maxCost: a session may cost ${maxCost === undefined ? 'as much as the budgets allow' : `$${maxCost}, then: ${onExceed}`}`,
    `session.maxMessages: the model is shown ${maxMessages} messages of earlier turns at most, older ones are left out without a word`,
    `session.staleDays: a session counts as inactive after ${staleDays ?? 3} days without a word`,
    ...(agents.some(({ tools }) => tools.includes('sessions'))
      ? sessionToolLines(sessionTools, routing.people)
      : ['tools.sessions: no agent has the tool sessions, so none reads or writes to another conversation']),
    ...(agents.some(({ tools }) => tools.includes('web')) ? webLines(web) : []),
  ]
}

function capsText(caps: TurnCaps): string {
  const turns = CAPPED.map((kind) => `${kind} ${capOf(caps, kind) ?? 'unlimited'}`)
  return `the turns of a session at most: ${list(turns)}`
}

function webLines({ allowedHosts, search }: WebSettings = { allowedHosts: [] }): string[] {
  const place = search?.url === undefined ? '' : ` at ${search.url}`
  const hosts = allowedHosts.length === 0 ? '' : `, and those of ${list(allowedHosts)}`
  return [
    `tools.web: pages are read without asking whose address a person has written there or a search of the turn has listed${hosts}`,
    `tools.web.search: ${search === undefined ? 'none' : `${search.provider}${place}`}`,
  ]
}

/** Says what the agent reads for whom: in private whatever they may read themselves, elsewhere by the setting. */
function sessionToolLines({ agents, inGroups }: SessionToolSettings, people: RoutingPolicy['people']): string[] {
  const owners = people.filter(({ role }) => role === 'owner').map(({ id }) => id)
  const members = people.filter(({ role }) => role === 'member').map(({ id }) => id)
  const who = [
    `for ${owners.length === 0 ? 'an owner' : owners.join(', ')}: every session of the agent`,
    ...(members.length === 0 ? [] : [`for ${members.join(', ')}: those they take part in`]),
    'for anybody else: their own chat only',
  ].join('; ')
  return [
    ...(agents.length === 0 ? [] : [`tools.sessions.agents: ${list(agents)} reach each other's sessions`]),
    `tools.sessions: in a direct chat the agent reads, ${who}`,
    inGroups === 'here'
      ? 'tools.sessions.inGroups: here: where others see the answer, it reads that conversation alone, whoever asks'
      : `tools.sessions.inGroups: asker: where others see the answer, it reads there, too, and shows to all of them, ${who}`,
  ]
}

function publicLines(turns: Config['session']['publicTurns']): string[] {
  if (turns === undefined) return []
  const { atOnce, perPerson, waiting } = turns
  return [
    `session.publicTurns: people nobody let in by name have ${atOnce} turns at once, each of them ${perPerson}, and ${waiting} wait; the others are asked to write again`,
  ]
}
