import { cutToFit, takeCharacters } from '../shared/fit-text.ts'
import type { Platform } from '../shared/platforms.ts'
import { countText, type PostingRules } from '../posts/posting-rules.ts'
import { checkText } from '../posts/preflight.ts'

/** The user's input for caption suggestions. */
export interface CaptionInput {
  prompt: string
  /** The text that the user has written so far. */
  text: string | null
  tone: string | null
  platform: Platform | null
}

/** Source of captions: a language model, or templates when no provider is configured. */
export const CAPTION_SOURCES = ['model', 'template'] as const
export type CaptionSource = (typeof CAPTION_SOURCES)[number]

/** Number of captions suggested per request. */
export const CAPTIONS_PER_REQUEST = 4

/** Maximal graphemes of a caption, even where a platform allows more. */
export const MAX_CAPTION_LENGTH = 2_200
/** UTF-16 units read of a text: enough for a caption of maximal length. */
const MAX_READ_LENGTH = 50_000

/** Returns captions ready to post: distinct, non-empty and within the platform's limits. */
export function fitCaptions(captions: string[], platform: Platform | null, rules: PostingRules | null): string[] {
  const fits = createFitCheck(platform, rules)
  const fitted = captions
    .map((caption) => cutToFit(cutToReadLength(caption.trim()), fits))
    .filter((caption) => caption !== '')
  return [...new Set(fitted)].slice(0, CAPTIONS_PER_REQUEST)
}

// words-ok: template captions are informal on purpose
const PLAIN = ['Good to know: {topic}', 'New: {topic}', '{topic}\n\nWhat do you think?', 'Have a look: {topic}']
const BY_TONE: Record<string, string[]> = {
  professional: [
    'Worth knowing: {topic}',
    'An update: {topic}',
    'We are glad to share this: {topic}',
    '{topic}\n\nMore soon.',
  ],
  casual: ['Guess what: {topic}', 'So, this happened: {topic}', 'Just a quick one: {topic}', '{topic}\n\nThoughts?'],
  friendly: [
    '{topic} 😊',
    'Hello everyone! {topic}',
    'We thought of you: {topic}',
    '{topic}\n\nTell us what you think!',
  ],
  // words-ok: template captions are informal on purpose
  funny: ['{topic} 😄', 'Plot twist: {topic}', 'Nobody asked, but: {topic}', '{topic}\n\nYes, really.'],
  excited: [
    'Big news: {topic}!',
    'It is here: {topic} 🎉',
    // words-ok: template captions are informal on purpose
    'We could not wait to tell you: {topic}',
    '{topic}\n\nWho is in?',
  ],
}

/** Captions for a prompt without a topic. */
const WITHOUT_TOPIC = [
  'There is news to share. Stay tuned!',
  'Something new is on its way.',
  'A little update from us. What do you think?',
  'More about this soon. What would you like to know?',
]

/** The beginning of an instruction, such as `Please write a short caption` or `Make it funnier`. */
const INSTRUCTION =
  /^(?:please |can you |could you )*(?:add|change|create|draft|generate|give|improve|make|refine|remove|rephrase|rewrite|shorten|suggest|translate|turn|use|write)\b/i
const TOPIC = /(?:\b(?:about|announcing|on|for)|:) (.+)$/i

/**
 * Builds captions from templates: the post's text, or the topic of the prompt, in phrases that match the tone. Never repeats
 * an instruction, such as `make it shorter`.
 */
export function buildTemplateCaptions(
  { prompt, text, tone, platform }: CaptionInput,
  rules: PostingRules | null,
): string[] {
  const topic = text?.trim() ? toLine(text) : findTopic(toLine(prompt))
  const fits = createFitCheck(platform, rules)
  if (topic === null) return WITHOUT_TOPIC.filter(fits)
  const phrases = BY_TONE[tone?.trim().toLowerCase() ?? ''] ?? PLAIN
  return phrases.map((phrase) => cutToFit(topic, fits, (cut) => phrase.replace('{topic}', () => cut)))
}

/** Returns the topic of a prompt; null for an instruction without a topic. */
function findTopic(prompt: string): string | null {
  return INSTRUCTION.test(prompt) ? (TOPIC.exec(prompt)?.[1] ?? null) : prompt
}

function toLine(text: string): string {
  return cutToReadLength(text.trim().replace(/\s+/g, ' '))
}

function createFitCheck(platform: Platform | null, rules: PostingRules | null): (text: string) => boolean {
  return (text) => {
    if (countText(text, 'graphemes', MAX_CAPTION_LENGTH + 1) > MAX_CAPTION_LENGTH) return false
    return !platform || !rules || text === '' || checkText(platform, { text, mediaItems: [] }, rules).length === 0
  }
}

/**
 * Cuts a text to one character more than a caption may have, so that a text that is too long still fails the length check. Never
 * leaves a lone surrogate.
 */
function cutToReadLength(text: string): string {
  return takeCharacters(text.slice(0, MAX_READ_LENGTH), MAX_CAPTION_LENGTH + 1).toWellFormed()
}
