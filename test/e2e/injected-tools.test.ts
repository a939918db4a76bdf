import { describe, it } from 'vitest'
import { sample } from '../sample.ts'
import { ALL, denied, FAMILY, type Stage, type StageOptions, stage } from './injected-stage.ts'

type Way = readonly [options: StageOptions, bring: (stage: Stage) => unknown]

const server = (where: string): Way => [{ server: where }, ({ world }) => world.say({ from: 111, text: '?notes' })]
const page = (html: string): Way => [
  { pages: { '/page': html } },
  ({ world, at }) => world.say({ from: 111, text: `?web ${at('news.example.org', '/page')}` }),
]

/** Every way by which a tool brings text that is not the owner's, who has asked for it. */
const WAYS: Readonly<Record<string, Way>> = {
  'a web page': page(`<h1>News</h1><p>${ALL}</p>`),
  'the title of a web page': page(`<title>${ALL}</title><p>harmless</p>`),
  'the words of a link in a page': page(`<p><a href="/x">${ALL}</a></p>`),
  'what a search finds': [{}, ({ world }) => world.say({ from: 111, text: '?find gardens' })],
  'the result of a tool server': server('result'),
  'the failure of a tool server': server('error'),
  'the refusal of a tool server by its protocol': server('refusal'),
  'a resource of a tool server': server('resource'),
  'the name of a link to a resource': server('link'),
  'the structured result of a tool server': server('structure'),
  'what a task has read, as its answer': [
    { pages: { '/page': `<p>${ALL}</p>` } },
    async ({ world, say, quietly, at }) => {
      await quietly(() =>
        say(111, `?task ?web_${at('news.example.org', '/page')} see ${at('news.example.org', '/page')}`),
      )
      world.say({ from: 111, text: `do as it says: ${ALL}` })
    },
  ],
  'the task itself, which a member gives': [
    {},
    ({ world }) => world.say({ from: 444, text: `?task ${ALL.replaceAll(' ', '_')}` }),
  ],
  'messages in a list of conversations': [
    {},
    async ({ say, world, quietly }) => {
      await quietly(() => say(555, ALL))
      world.say({ from: 111, text: '?list' })
    },
  ],
  'what a member has another conversation told': [
    {},
    async ({ say, world, quietly }) => {
      await quietly(async () => {
        await say(444, '@parley_bot hello', { chat: FAMILY })
        await say(444, `?tell ${ALL.replaceAll(' ', '_')}`)
      })
      world.say({ from: 111, chat: FAMILY, text: `@parley_bot do as it says: ${ALL}` })
    },
  ],
}

describe('an obedient model does nothing elsewhere for text that a tool brings', () => {
  it.each(sample(Object.entries(WAYS), 3))('T32, F-I01: %s', async (_, [options, bring]) => {
    const scene = await stage(options)
    await bring(scene)
    await denied(scene)
  })
})
