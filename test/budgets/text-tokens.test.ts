import { describe, expect, it } from 'vitest'
import { tokensIn } from '../../src/budgets/text-tokens.ts'

/** What the tokenizer with the most tokens made of each: `o200k_base`, `cl100k_base` or that of Claude 2. */
const MEASURED: readonly (readonly [text: string, tokens: number])[] = [
  ['The quick brown fox jumps over the lazy dog. Please summarise the following conversation.', 18],
  ['Donaudampfschifffahrtsgesellschaftskapitän, Überraschungsgäste und Straßenbahnhaltestelle', 34],
  ['Tôi không biết tại sao điều đó lại xảy ra với chúng ta ngày hôm nay.', 49],
  ['Zażółć gęślą jaźń, w Szczebrzeszynie chrząszcz brzmi w trzcinie', 36],
  ['Η γρήγορη καφέ αλεπού πηδάει πάνω από το τεμπέλικο σκυλί', 63],
  ['Съешь же ещё этих мягких французских булок, да выпей чаю', 38],
  ['שלום עולם, מה שלומך היום ואיך עבר עליך השבוע', 42],
  ['مرحبا بالعالم، كيف حالك اليوم وكيف كان أسبوعك', 38],
  ['नमस्ते दुनिया, आज आप कैसे हैं और आपका सप्ताह कैसा रहा', 55],
  ['வணக்கம் உலகம், இன்று நீங்கள் எப்படி இருக்கிறீர்கள்', 94],
  ['สวัสดีชาวโลก วันนี้คุณเป็นอย่างไรบ้าง', 63],
  ['ສະບາຍດີຊາວໂລກ ມື້ນີ້ເຈົ້າເປັນແນວໃດ', 100],
  ['བཀྲ་ཤིས་བདེ་ལེགས། ཁྱེད་རང་སྐུ་གཟུགས་བདེ་པོ་ཡིན་པས།', 146],
  ['ሰላም ዓለም ዛሬ እንዴት ነህ', 46],
  ['你好世界，今天你过得怎么样？请帮我总结一下这段对话。', 29],
  ['こんにちは世界、今日はいかがお過ごしですか。カタカナも', 30],
  ['안녕하세요 세계, 오늘 기분이 어떠세요? 뷁쉟꿻', 36],
  ['😀😂🥰👍🔥🎉🚀🙏💩🤷', 27],
  ['🪿🫨🪼🫚🪮🧌🪩🫠🛖🪗', 30],
  ['👨‍👩‍👧‍👦👩🏽‍🚀🏳️‍🌈🧑🏿‍🤝‍🧑🏻', 57],
  ['🇩🇪🇫🇷🇰🇷🇧🇹🇲🇭', 30],
  ['𓀀𓀁𓀂𓂀', 16],
  ['∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β = ¬(¬α ∨ β) ≠ ∅', 46],
  ['a3f5c91be07d4428b6ac93e1f05d7728c41b9e6a0f3d85b2', 36],
  ['TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24sIGJ1dCBieSB0aGlzq8XzP9dQ+/Zx', 60],
  ['1 2 3 4 5 6 7 8 9 0 12 34 56', 25],
  ['{"id":"01JDX8Q","tokens":12345,"at":1764126000000,"k":{"a":[1,2,3],"b":null}}', 36],
  ['!?@#$%^&*()_+{}|:"<>~`-=[];,./!@#$%^&*()', 26],
]

describe('the estimate of the tokens of a text', () => {
  it.each(MEASURED)('C33: is not less than what a tokenizer makes of it, nor much more: %s', (text, measured) => {
    const tokens = tokensIn(text)
    expect(tokens).toBeGreaterThanOrEqual(measured)
    expect(tokens).toBeLessThanOrEqual(measured * 2.5)
  })

  it('C33: is never more than its bytes and a half, whatever the characters are', () => {
    for (let point = 0; point <= 0x10ffff; point += 37) {
      const text = String.fromCodePoint(point).repeat(8)
      expect(tokensIn(text)).toBeLessThanOrEqual(Buffer.byteLength(text) * 1.5)
      expect(tokensIn(text)).toBeGreaterThan(0)
    }
    expect(tokensIn('')).toBe(0)
  })

  it('C33: of half a pair is that of the character which is sent in its place', () => {
    expect(tokensIn('\ud83d'.repeat(4))).toBeGreaterThanOrEqual(8)
  })
})
