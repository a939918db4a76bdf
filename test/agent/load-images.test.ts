import { describe, expect, it } from 'vitest'
import { loadImages } from '../../src/agent/models/pictures.ts'
import { type Content, textContent } from '../../src/core/content.ts'
import type { MediaId } from '../../src/core/ids.ts'
import type { ModelMessage } from '../../src/core/model.ts'

const LONGEST = 1_000
const media = { read: async (id: MediaId) => Buffer.from(`bytes of ${id}`) }

function picture(name: string, size = 10): Content[number] {
  return { type: 'image', media: `media:${name}` as MediaId, mime: 'image/png', size }
}

const user = (...content: Content): ModelMessage => ({ role: 'user', content })

/** The numbers of the pictures that a model is shown of a conversation with these, one a message. */
async function shown(names: readonly (string | number)[]): Promise<readonly string[]> {
  const messages = names.map((name) => user(...textContent('look'), picture(String(name))))
  return [...(await loadImages(messages, media, LONGEST)).keys()].map((id) => id.slice('media:'.length))
}

const upTo = (count: number, from = 1) => Array.from({ length: count - from + 1 }, (_, index) => String(from + index))

describe('the pictures of a request', () => {
  it.each([
    [1, 1],
    [20, 1],
    [21, 11],
    [29, 11],
    [30, 11],
    [31, 21],
    [95, 81],
  ])(
    'of %i are shown from number %i on: twenty at most, the older ones left out in blocks of ten',
    async (count, from) => {
      expect(await shown(upTo(count))).toEqual(upTo(count, from))
    },
  )

  it('a new one leaves the pictures before it the same, but once in ten', async () => {
    let changes = 0
    let before: readonly string[] = []
    for (let count = 1; count <= 100; count++) {
      const now = await shown(upTo(count))
      if (now.slice(0, -1).join() !== before.join()) changes++
      before = now
    }
    expect(changes).toBe(8)
  })

  it('one that comes again is as new as its last place, and is counted in each of them', async () => {
    expect(await shown([...upTo(21), 1])).toEqual([...upTo(21, 12), '1'])
    expect(await shown(['a', 'a', 'a', ...upTo(17)])).toEqual(['a', ...upTo(17)])
    expect(await shown(['a', 'a', 'a', ...upTo(18)])).toEqual(upTo(18, 8))
  })

  it('the newest is shown however often it came', async () => {
    expect(await shown(['b', ...Array.from({ length: 40 }, () => 'a')])).toEqual(['a'])
  })

  it('those of tool results count with those of people, in order', async () => {
    const results = (from: number): ModelMessage => ({
      role: 'tool',
      results: upTo(from + 9, from).map((name) => ({ id: name, content: [picture(name)], isError: false })),
    })
    const images = await loadImages([user(picture('0')), results(1), user(picture('x')), results(11)], media, LONGEST)
    expect([...images.keys()]).toEqual(['10', 'x', ...upTo(20, 11)].map((name) => `media:${name}`))
  })

  it('those that are too large, that are gone and that are no pictures take no place', async () => {
    const gone = {
      read: (id: MediaId) => (id === 'media:gone' ? Promise.reject(new Error('no file')) : media.read(id)),
    }
    const file = { ...picture('file'), type: 'file' } as Content[number]
    const messages = [...upTo(20).map((name) => user(picture(name))), user(picture('large', LONGEST + 1), file)]
    expect((await loadImages(messages, media, LONGEST)).size).toBe(20)
    const images = await loadImages([user(picture('gone'), picture('here', LONGEST))], gone, LONGEST)
    expect([...images]).toEqual([['media:here', Buffer.from('bytes of media:here').toString('base64')]])
  })
})
