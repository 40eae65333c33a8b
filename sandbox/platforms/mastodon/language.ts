import { RefusedCall } from '../shared/refused-call.ts'

/** The language of a server's error texts: that of its operator (`DEFAULT_LOCALE`). */
export type Language = 'en' | 'de'

/**
 * The German texts of Mastodon (`config/locales/de.yml` and `doorkeeper.de.yml`, read in November 2026) and of rails-i18n.
 * Other texts are English on every server.
 */
const GERMAN: [english: RegExp, german: string][] = [
  [/^Validation failed: Text can't be blank$/, 'Gültigkeitsprüfung ist fehlgeschlagen: Text muss ausgefüllt werden'],
  [
    /^Validation failed: Text character limit of (\d+) exceeded$/,
    'Gültigkeitsprüfung ist fehlgeschlagen: Text Begrenzung von $1 Zeichen überschritten',
  ],
  [
    /^Validation failed: File content type is invalid, File is invalid$/,
    'Gültigkeitsprüfung ist fehlgeschlagen: File content type ist nicht gültig, File ist nicht gültig',
  ],
  [/^Validation failed: (.*)$/, 'Gültigkeitsprüfung ist fehlgeschlagen: $1'],
  [/^Cannot attach a video .*$/, 'Es kann kein Video an einen Beitrag, der bereits Bilder enthält, angehängt werden'],
  [
    /^Cannot attach files that have not finished processing.*$/,
    'Dateien, die noch nicht bearbeitet wurden, können nicht angehängt werden. Versuche es gleich noch einmal!',
  ],
  [/^Cannot attach more than 4 files$/, 'Es können nicht mehr als 4 Dateien angehängt werden'],
  [
    /^Media (.*) not found or already attached to another post$/,
    'Medieninhalte $1 nicht gefunden oder bereits an einen anderen Beitrag angehängt',
  ],
  [
    /^The post you are trying to reply to does not appear to exist\.$/,
    'Der Beitrag, auf den du antworten möchtest, scheint nicht zu existieren.',
  ],
  [/^The access token is invalid$/, 'Der Zugriffs-Token ist ungültig'],
  [/^The access token was revoked$/, 'Der Zugriffs-Token wurde widerrufen'],
  [/^Too many requests$/, 'Du wurdest gedrosselt'],
]

/** Returns the refusal in the server's language. */
export function translate(refusal: RefusedCall, language: Language): RefusedCall {
  const text = (refusal.answer.body as { error?: unknown } | undefined)?.error
  if (language === 'en' || typeof text !== 'string') return refusal
  const [english, german = ''] = GERMAN.find(([pattern]) => pattern.test(text)) ?? []
  if (!english) return refusal
  return new RefusedCall({ ...refusal.answer, body: { error: text.replace(english, german) } })
}
