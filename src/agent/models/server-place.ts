/** The server of a model, as its messages and its requests need it. */
export interface ServerPlace {
  /** Its key under `models`. */
  readonly name: string
  readonly kind: 'openai' | 'anthropic'
  readonly baseUrl: string
  /** Empty: none. */
  readonly apiKey: string
}
