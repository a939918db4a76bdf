import { expect, test } from 'vitest'
import { refusal, TELEGRAM } from './loading.ts'

/** Settings of tools and people, beside a channel that is in order; the line begins after it. */
const TABLE: readonly (readonly [mistake: string, yaml: string, message: string])[] = [
  [
    'tools that do not exist',
    'agents: [{ id: main, tools: [tiem] }]',
    '2: agents[0].tools[0]: there are no such tools; known: time, sessions, message, schedule, web, memory; did you mean `time`?',
  ],
  [
    'a zone of a person that is none',
    'people: { bob: { timezone: Mars/Base } }',
    '2: people.bob.timezone: there is no time zone Mars/Base; write one such as Europe/Berlin or UTC',
  ],
  [
    'an approver who is nobody',
    'tools: { policy: [{ tools: [pay], who: [owner], approvers: [bob], action: ask }] }',
    '2: tools.policy[0].approvers[0]: there is nobody called bob under people; write one of those names; an owner may always answer',
  ],
  [
    'approvers of a rule that asks nobody',
    'tools: { policy: [{ tools: [pay], who: [owner], approvers: [bob], action: deny }] }',
    '2: tools.policy[0].approvers: nobody is asked under a rule that allows or denies; set action: ask, or remove them',
  ],
  [
    'a name that is nobody’s in a rule for tools',
    'tools: { policy: [{ tools: [pay], who: [Owner, ownr], action: deny }] }',
    '2: tools.policy[0].who[1]: there is nobody called ownr under people; write one of those names, or owner, member, everybody; did you mean `owner`?',
  ],
  [
    'sessions of an agent that does not exist',
    'tools: { sessions: { agents: [mian] } }',
    '2: tools.sessions.agents[0]: there is no agent mian; known: main; did you mean `main`?',
  ],
  [
    'a search without its key',
    'tools: { web: { search: { provider: brave } } }',
    '2: tools.web.search.apiKey: is needed for brave',
  ],
  [
    'a search without its address',
    'tools: { web: { search: { provider: searxng, apiKey: x } } }',
    '2: tools.web.search.url: is needed for searxng',
  ],
  [
    'a search whose address has a password',
    'tools: { web: { search: { provider: searxng, url: "http://:canary@h" } } }',
    '2: tools.web.search.url: must have no name or password in it',
  ],
  [
    'an address in place of a host',
    'tools: { web: { allowedHosts: ["https://e.org/"] } }',
    '2: tools.web.allowedHosts[0]: must be a host name such as example.org, or *.example.org for all below it',
  ],
]

test.each(TABLE)('%s is refused with line, path and remedy', async (_, yaml, message) => {
  expect(await refusal(`${TELEGRAM}${yaml}\n`)).toContain(`parley.yaml:${message}`)
})
