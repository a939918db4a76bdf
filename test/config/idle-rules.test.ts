import { describe, expect, test } from 'vitest'
import { catalogue } from '../../adapters/index.ts'
import { idleRuleWarnings } from '../../src/config/idle-rules.ts'
import { createFileSchema, traitsOf } from '../../src/config/schema.ts'
import { createChannels } from '../../src/core/channel-traits.ts'
import { load, TELEGRAM } from './loading.ts'

const warningsOf = async (yaml: string): Promise<readonly string[]> => (await load(TELEGRAM + yaml)).config.warnings
const groups = (...rules: readonly string[]): string => `routing: { access: { groups: [${rules.join(', ')}] } }\n`

test('a warning is about a line of the file', async () => {
  const { config, lineOf } = await load(
    `${TELEGRAM}routing:\n  access:\n    groups:\n      - match: { chat: Family }\n`,
  )
  const warning = config.warnings.find((one) => one.includes('Family')) ?? ''
  expect(lineOf(warning)).toBe(TELEGRAM.split('\n').length + 3)
})

describe('a rule that can match nothing is warned of', () => {
  test.each([
    [
      'a title',
      '{ match: { channel: telegram, chat: Family } }',
      'groups[0].match.chat: "Family" is no id of Telegram',
    ],
    [
      "a person's id, or a group's without its minus,",
      '{ match: { channel: telegram, chat: 1002233445566 } }',
      'groups[0].match.chat: "1002233445566" is no id of a group of Telegram',
    ],
    [
      'a title anywhere',
      '{ match: { chat: "Our club" } }',
      'groups[0].match.chat: "Our club" is no id of any platform',
    ],
    [
      'a title of a topic',
      '{ match: { channel: telegram, chat: -1007654321, topic: Garden } }',
      'groups[0].match.topic: "Garden" is no id of Telegram',
    ],
  ])('%s where an id belongs', async (_, rule, warning) => {
    expect(await warningsOf(groups(rule))).toContainEqual(expect.stringContaining(warning))
  })

  test.each([
    ['{ channel: discord }', 'groups[0].match.channel: the file has no channels.discord, so the rule matches nothing'],
    [
      '{ channel: telegram, account: work }',
      'groups[0].match.account: no account is called "work", so the rule matches nothing; there are default',
    ],
    ['{ account: work }', 'groups[0].match.account: no account is called "work"'],
  ])('a channel or an account that is not there: %s', async (match, warning) => {
    expect(await warningsOf(groups(`{ match: ${match} }`))).toContainEqual(expect.stringContaining(warning))
  })

  test.each([['{ channel: telegram, chat: -1007654321 }'], ['{ chat: "group:-1007654321" }'], ['{ chat: C7QK4TZ2M }']])(
    'the id of %s is none of them',
    async (match) => {
      expect((await warningsOf(groups(`{ match: ${match} }`))).filter((line) => line.includes('groups'))).toEqual([])
    },
  )

  test('a sender nobody under people has, and the role of one', async () => {
    const people = 'people: { ada: { role: owner, ids: [telegram:7654321] } }\n'
    const rule = (sender: string) => `${people}routing: { dispatch: [{ match: { sender: ${sender} } }] }\n`
    for (const sender of ['owner', 'bob'])
      expect(await warningsOf(rule(sender))).toContainEqual(
        expect.stringContaining(`routing.dispatch[0].match.sender: nobody under people is called "${sender}"`),
      )
    for (const sender of ['ada', 'Ada', 'telegram:5', '7654321'])
      expect((await warningsOf(rule(sender))).filter((line) => line.includes('dispatch'))).toEqual([])
  })

  test('a dispatch rule with an empty match', async () => {
    expect(await warningsOf('routing: { dispatch: [{ match: {} }] }\n')).toContainEqual(
      expect.stringContaining('routing.dispatch[0].match: is empty'),
    )
  })
})

describe('a rule behind one that matches all of it', () => {
  test.each([
    ['{ who: owner }', '{ match: { chat: -1007654321 }, who: allowlist }'],
    ['{ match: { channel: telegram }, who: owner }', '{ match: { channel: telegram, chat: -1007654321 } }'],
    ['{ match: { chat: -1007654321 }, who: owner }', '{ match: { chat: "group:-1007654321", topic: 5 } }'],
  ])('%s is told with the rule before it', async (first, second) => {
    expect(await warningsOf(groups(first, second))).toContainEqual(
      expect.stringContaining(
        'routing.access.groups[1]: is never reached, for routing.access.groups[0] (who: owner) matches all of it before',
      ),
    )
  })

  test('is no matter where the earlier one is narrower, or about another place', async () => {
    const rules = [
      '{ match: { chat: "group:-1007654321" } }',
      '{ match: { chat: -1007654321 } }',
      '{ match: { chat: -5 } }',
      '{}',
    ]
    expect((await warningsOf(groups(...rules))).filter((line) => line.includes('never reached'))).toEqual([])
  })
})

describe('what a model needs and is not there', () => {
  test('a key of the file is a warning, and no agent repeats what people say instead', async () => {
    const { config } = await load(`${TELEGRAM}models: { anthropic: { apiKey: "\${env:NO_KEY}" } }\n`)
    expect(config.warnings).toEqual([
      expect.stringMatching(/^models\.anthropic\.apiKey: .*NO_KEY.*; agents on models of anthropic cannot answer$/),
    ])
    expect(config.agents[0]?.model).toBe('anthropic/claude-sonnet-5-5')
    expect(config.models.anthropic).toMatchObject({ keyAbsent: expect.stringContaining('NO_KEY is not set') })
    expect(config.models.anthropic).not.toHaveProperty('apiKey')
  })

  test('a script that does not exist is a warning', async () => {
    const agents = 'agents: [{ id: main, model: scripted/demo.yaml, models: [scripted/other.yaml, scripted/echo] }]\n'
    const { config } = await load(TELEGRAM + agents, {}, { 'other.yaml': 'rules: []' })
    expect(config.warnings).toEqual([expect.stringMatching(/^agents\[0\]\.model: there is no script .*demo\.yaml/)])
  })
})

describe('somebody listed whom no rule lets in is warned of', () => {
  const people = 'people:\n  bo: { role: owner }\n  ada: { ids: ["telegram:7001002"] }\n'
  const unheard = async (access: string): Promise<readonly string[]> =>
    (await warningsOf(`${people}routing: { access: { ${access} } }\n`)).filter((one) => one.startsWith('people.'))

  test.each([
    ['only the owner may write', 'direct: owner'],
    ['groups are for the owner', 'groups: [{ match: { chat: -1002147483648 } }]'],
    ['the group is never answered', 'groups: [{ who: allowlist, trigger: never }]'],
    ['the group is on another platform', 'groups: [{ match: { channel: discord }, who: allowlist }]'],
  ])('where %s', async (_, access) => {
    expect(await unheard(access)).toEqual([
      'people.ada: may talk nowhere but in groups let in by /admit, for routing.access is for the owner; set routing.access.direct to allowlist, or write a rule for a group',
    ])
  })

  test.each([
    ['listed people may write', 'direct: allowlist'],
    ['anybody may', 'direct: public'],
    ['a group is for them', 'groups: [{ match: { channel: telegram }, who: allowlist }]'],
    ['any group is for all', 'groups: [{ who: public }]'],
  ])('and not where %s', async (_, access) => {
    expect(await unheard(access)).toEqual([])
  })

  test('with the line', async () => {
    const { config, lineOf } = await load(TELEGRAM + people)
    const warning = config.warnings.find((one) => one.startsWith('people.')) ?? ''
    expect(lineOf(warning)).toBe(TELEGRAM.split('\n').length + 2)
  })
})

test('of many rules each is compared with a few, not with all', () => {
  const channels = createChannels(traitsOf(catalogue))
  const file = createFileSchema(catalogue).parse({})
  const readsOf = (count: number): number => {
    let reads = 0
    const ownKeys = (match: object): (string | symbol)[] => {
      reads++
      return Reflect.ownKeys(match)
    }
    const dispatch = Array.from({ length: count }, (_, index) => ({
      match: new Proxy({ chat: `-1${index}` }, { ownKeys }),
      shadow: false,
    }))
    expect(idleRuleWarnings({ ...file, routing: { ...file.routing, dispatch } }, channels)).toEqual([])
    return reads
  }

  expect(readsOf(4_000) / readsOf(1_000)).toBeLessThan(6)
})
