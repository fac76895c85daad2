"""What column names mean, in English, German, French and Spanish.

A name is folded (no accents, lower case), split into words at separators and at capitals inside it, and looked up in two
ways: one of its words must *equal* a listed word (`age` is not in `wage`), or its letters without separators must *contain*
a longer stem (`dateofbirth`, `geburtsdatum`). Short words with many meanings (`name`, `id`, `weight`) are judged in `signs`,
together with the column's content.

Surveys and trials name columns by codes. `_CODES` knows those of EU-SILC (the first letter is the file, the second the
subject: `PY010N`, `RB090`) and of clinical trials (`AETERM`, `SYSBP`).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum


class Concept(StrEnum):
    """What the name of a column says it holds."""

    NAME = "a name"
    EMAIL = "an e-mail address"
    FAX = "a fax number"
    PHONE = "a telephone number"
    STREET = "a street address"
    PERSON_NUMBER = "a national identification number"
    PATIENT_NUMBER = "a medical record number"
    INSURANCE_NUMBER = "a health plan number"
    ACCOUNT = "an account or card number"
    LICENCE = "a certificate or licence number"
    VEHICLE = "a vehicle's number"
    DEVICE = "a device's number"
    URL = "a web address"
    IP = "an internet address"
    BIOMETRIC = "a biometric"
    PHOTO = "a photograph"
    IDENTIFIER = "an identifier"
    FREE_TEXT = "remarks"
    WEIGHT = "a sampling weight"
    HEALTH = "health"
    MONEY = "money"
    RELIGION = "religion"
    POLITICS = "politics or union membership"
    SEX_LIFE = "sexual life or orientation"
    CRIME = "crime"
    JUDGEMENT = "a score, mark or opinion"
    POSTCODE = "a postcode"
    PLACE = "a place"
    COUNTRY = "a country or nationality"
    BIRTH = "birth"
    AGE = "age"
    SEX = "sex"
    ETHNICITY = "ethnicity"
    MARITAL = "marital status"
    EDUCATION = "education"
    OCCUPATION = "occupation"
    EMPLOYER = "employment"
    HOUSEHOLD = "household or family"
    HOUSING = "housing"
    LANGUAGE = "language"
    BODY = "the body"
    DATE = "a date"


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a concept: those that equal a word of the name, and those that its letters contain."""

    equal: frozenset[str]
    held: tuple[str, ...]


def listed(text: str) -> frozenset[str]:
    """The words of a text that lists them."""
    return frozenset(text.split())


def _words(equal: str, held: str = "") -> Words:
    return Words(listed(equal), tuple(held.split()))


_MEASURED = (
    "bmi cholesterol glucose hba1c sysbp diabp sbp dbp systolic diastolic pulse heartrate spo2 creat creatinine platelets "
    "plt leukocytes wbc rbc hgb hemoglobin haemoglobin bilirubin albumin egfr crp ldl hdl triglycerides"
)
MEASUREMENTS = listed(_MEASURED)
"""Measurements of the body and of blood: their numbers may all differ, and still be no identifiers."""

_CONCEPTS: dict[Concept, Words] = {
    Concept.EMAIL: _words("email mail correo courriel", "emailaddress"),
    Concept.FAX: _words("fax telefax", "faxnumber"),
    Concept.PHONE: _words("phone tel mobile cell handy telefono telephone telefon", "phonenumber telefonnummer"),
    Concept.STREET: _words(
        "address addr adresse direccion street strasse rue calle anschrift", "streetaddress homeaddress hausnummer"
    ),
    Concept.PERSON_NUMBER: _words(
        "ssn nino nir dni nie cpf bsn pesel steuerid passport passnummer sin tin",
        "socialsecurity nationalid nationalinsurance taxid steueridentifikation numerosecuritesociale passportno "
        "personnummer codicefiscale sozialversicherungsnummer",
    ),
    Concept.PATIENT_NUMBER: _words(
        "mrn nhs",
        "medicalrecord patientid patientno patientnumber patientennummer patientnr idpatient nhsnumber fallnummer",
    ),
    Concept.INSURANCE_NUMBER: _words(
        "",
        "healthplan beneficiaryid insuranceno insurancenumber insuranceid policynumber policyno memberid "
        "versichertennummer",
    ),
    Concept.ACCOUNT: _words(
        "iban bic account acct konto cuenta compte creditcard kreditkarte", "accountnumber cardnumber"
    ),
    Concept.LICENCE: _words("licence license certificate fuehrerschein permis", "licenseno licenceno certificateno"),
    Concept.VEHICLE: _words("vin plate kennzeichen matricula immatriculation", "licenseplate licenceplate numberplate"),
    Concept.DEVICE: _words("imei imsi serial udid mac", "deviceid serialno serialnumber seriennummer macaddress"),
    Concept.URL: _words("url website homepage webpage link uri"),
    Concept.IP: _words("ip ipv4 ipv6", "ipaddress ipaddr"),
    Concept.BIOMETRIC: _words("fingerprint iris retina voiceprint biometric biometrics", "fingerprint biometri"),
    Concept.PHOTO: _words("photo photograph picture foto image bild avatar portrait selfie"),
    Concept.FREE_TEXT: _words(
        "comment comments note notes remark remarks bemerkung bemerkungen kommentar commentaire comentario freetext",
        "freetext observaciones",
    ),
    Concept.HEALTH: _words(
        "disease diseases diagnosis diagnoses diag dx icd icd10 icd9 illness condition symptom symptoms medication "
        "drug drugs medicine treatment therapy surgery procedure allergy allergies hiv aids cancer diabetes asthma "
        "depression disability disabled pregnant pregnancy smoker smoking alcohol blood "
        "krankheit diagnose diagnosen erkrankung medikament behandlung behinderung schwanger maladie diagnostic "
        "traitement medicament handicap enceinte enfermedad diagnostico tratamiento medicamento discapacidad embarazo "
        "genotype genetic mutation dna vaccination arm actarm armcd trt treat placebo severity adverse comorbidity "
        "comorbidities smoke dthfl deceased ecog nyha biopsy metastasis relapse remission lesion " + _MEASURED,
        "bloodpressure mentalhealth krankheit bloodtype bloodgroup adverseevent",
    ),
    Concept.MONEY: _words(
        "amount amounts price cost costs betrag montant monto importe income incomes salary salaries wage wages "
        "earnings earning pay revenue capital gain loss savings saving expend expenditure expenditures expense "
        "expenses spending debt debts loan loans mortgage credit balance tax taxes assets asset wealth pension "
        "benefit benefits dividend dividends interest profit money agi fica turnover rent einkommen gehalt lohn "
        "vermoegen vermogen schulden steuer ersparnis ausgaben rente umsatz verdienst revenu revenus salaire epargne "
        "dette impot depenses fortune ingreso ingresos salario sueldo renta ahorro ahorros deuda impuesto gastos",
        "einkommen salaryclass housevalue homevalue",
    ),
    Concept.RELIGION: _words(
        "religion religious faith belief church denomination konfession glaube kirche foi croyance eglise fe creencia "
        "iglesia"
    ),
    Concept.POLITICS: _words(
        "politics political party vote voted union partei gewerkschaft wahl politik politique parti syndicat politica "
        "partido sindicato voto ideology",
        "politicalview parteizugehoerigkeit",
    ),
    Concept.SEX_LIFE: _words(
        "orientation sexuality orientierung orientacion", "sexualorientation sexualleben sexlife sexualbehav"
    ),
    Concept.CRIME: _words(
        "crime offence offense conviction convicted arrest arrests criminal recidivism straftat vorstrafe delit "
        "condamnation delito condena"
    ),
    Concept.JUDGEMENT: _words(
        "score grade rating satisfaction opinion rank performance gpa note noten bewertung zufriedenheit avis "
        "puntuacion calificacion"
    ),
    Concept.POSTCODE: _words(
        "zip zipcode zip3 zip5 postcode postal postleitzahl plz cp codigopostal",
        "postcode postalcode zipcode codepostal codigopostal",
    ),
    Concept.COUNTRY: _words(
        "country nation nationality citizenship citizen land staat pays nationalite pais nacionalidad "
        "staatsangehoerigkeit birthplace origin",
        "nationalit staatsangeh countryofbirth geburtsland",
    ),
    Concept.BIRTH: _words(
        "dob birth birthday birthdate birthyear birthmonth yob born geburt geburtstag geburtsjahr naissance nacimiento",
        "dateofbirth yearofbirth birthdate birthyear geburtsdatum geburtsjahr datenaissance fechanacimiento",
    ),
    Concept.AGE: _words("age ages alter edad ageyears agegroup", "altersgruppe ageinyears"),
    Concept.SEX: _words("sex gender geschlecht sexe sexo genero genre"),
    Concept.ETHNICITY: _words(
        "race ethnicity ethnic ethnie etni ethnicgroup ethn raza etnia herkunft migration migrationshintergrund",
        "ethnicit",
    ),
    Concept.MARITAL: _words(
        "marital marstat maritalstatus married civil hhcivil civilstatus spouse familienstand matrimonial matrimonio "
        "zivilstand estadocivil",
        "maritalstatus civilstatus familienstand etatcivil estadocivil",
    ),
    Concept.EDUCATION: _words(
        "education educ edu educ1 educ2 school schooling degree qualification bildung schulabschluss abschluss "
        "ausbildung formation diplome educacion estudios escolaridad",
        "education bildungs schulabschluss niveauetude",
    ),
    Concept.OCCUPATION: _words(
        "occupation job profession occup isco occucode beruf metier ocupacion profesion trade jobtitle",
        "occupation berufs jobtitle",
    ),
    Concept.EMPLOYER: _words(
        "workclass employer company industry sector employment employed branch branche arbeitgeber entreprise empresa "
        "empleo unemployed arbeitslos department hours arbeitszeit workhours shift",
        "workclass employmentstatus employer hoursperweek arbeitszeit",
    ),
    Concept.HOUSEHOLD: _words(
        "relationship relat relation household hh hhsize hsize eqss family children kids siblings parents haushalt kinder "
        "familie menage enfants famille hogar hijos familia numchildren famsize",
        "householdsize haushaltsgroesse familysize",
    ),
    Concept.HOUSING: _words(
        "roof walls wall water electcon electricity dwelling housing tenure rooms toilet heating house home wohnung "
        "zimmer logement vivienda urbrur urban rural urbanrural car cars vehicle vehicles"
    ),
    Concept.PLACE: _words(
        "city town village municipality county district region state province department precinct parish neighborhood "
        "neighbourhood residence location place latitude longitude lat lon lng gps coordinates geo geocode tract "
        "block fips nuts ort stadt gemeinde kreis bezirk bundesland wohnort ville commune departement ciudad "
        "municipio provincia barrio community area zone site siteid hospital clinic centre center ward school",
        "geolocation censustract wohnort",
    ),
    Concept.LANGUAGE: _words("language mothertongue sprache muttersprache langue idioma lengua", "mothertongue"),
    Concept.BODY: _words(
        "height groesse taille altura stature eyecolor eyecolour haircolor haircolour shoesize",
        "eyecolo haircolo koerpergroesse",
    ),
    Concept.DATE: _words(
        "date datum day month year time timestamp admission admitted discharge visit death died appointment fecha "
        "jahr monat annee anno ano",
        "dateof timestamp",
    ),
}

_FULL_NAMES = listed(
    "name names fullname firstname lastname surname forename givenname familyname middlename maidenname nachname "
    "vorname nom prenom nombre apellido apellidos nickname patientname personname username login customername "
    "employeename"
)
_NAME_WORDS = listed("first last full given family middle maiden patient person customer employee client user")
_SAMPLING_WEIGHTS = listed(
    "fnlwgt afnlwgt wgt wght wt wts pweight dweight anweight pspwght finalweight fweight perwt hhwt hochrechnungsfaktor"
)
_WEIGHTS = listed("weight weights weighting gewicht gewichtung poids ponderation peso ponderacion w")
_BODY_UNITS = listed("kg lb lbs kilo kilos pounds grams body birth koerper")
_IDENTIFIERS = listed(
    "id ids uid pid hid hhid guid uuid idno idnr key index rownumber rownum recordid recid kennung identifier "
    "identifiant identificador lfdnr serialid caseno casenumber rownames usubjid subjid idpers idperson idhh"
)
PERSONS = listed(
    "person patient subject participant respondent client customer member user pid personid patientid rb030 pb030 personne "
    "persona paciente patiente teilnehmer kunde client usubjid subjid idpers idperson"
)
"""Words for those whose rows a table holds; alone, they are the name of a column that tells people apart."""
HOUSEHOLDS = listed(
    "household hid hhid hhno hhnr hhnum idhh householdid haushalt haushaltsid menage hogar db030 hb030 rb040 rx030 px030"
)
"""Words for households that rows belong to."""

_CODES: tuple[tuple[re.Pattern[str], Concept], ...] = tuple(
    (re.compile(pattern), concept)
    for pattern, concept in (
        # EU-SILC: the letters of the file (d, h, r, p) and of the subject, three digits, and a letter such as n for net
        (r"[hp]y\d{3}[gn]?|hx0[89]0|h[sd]\d{3}|pd\d{3}", Concept.MONEY),
        (r"ph\d{3}[a-z]?", Concept.HEALTH),
        (r"pe\d{3}[a-z]?", Concept.EDUCATION),
        (r"pl\d{3}[a-z]?", Concept.EMPLOYER),
        (r"hh\d{3}[a-z]?|hx070", Concept.HOUSING),
        (r"hx0[456]0|rl0[1-6]0", Concept.HOUSEHOLD),
        (r"rb0[78]0|pb1[34]0", Concept.BIRTH),
        (r"rb090|pb150", Concept.SEX),
        (r"rx0[12]0|px020", Concept.AGE),
        (r"pb(190|200)", Concept.MARITAL),
        (r"[drhp]b020|pb2[12]0[ab]?|rb2[89]0", Concept.COUNTRY),
        (r"db(040|100)", Concept.PLACE),
        (r"[drhp]b010", Concept.DATE),
        (r"db0(80|90|95)|rb0(50|6\d)|pb0([4-8]0)|rl070", Concept.WEIGHT),
        # clinical trials: the letters of the domain (ae: adverse events, lb: laboratory, vs: vital signs) and of the variable
        (r"(ae|mh|ce)(term|decod|bodsys|sev|ser|rel|out|toxgr)|cm(trt|decod)|ds(term|decod)|trt\w*", Concept.HEALTH),
        (r"(lb|vs|eg|qs)(orres|stresn|stresc)|aval", Concept.HEALTH),
    )
)
"""Codes that whole names are, and what they mean. Person numbers and households are in the lists above."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the name of a column says: its words, its letters, its concepts, and whether it is the number of a place."""

    words: frozenset[str]
    letters: str
    concepts: frozenset[Concept]
    place_number: bool = False


def folded(text: str) -> str:
    """A text in lower case without accents; German umlauts lose their dots as well."""
    text = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in text if not unicodedata.combining(sign)).casefold()


def name_words(name: str) -> list[str]:
    """The words of a column's name: split at separators, and before capitals that follow lower-case letters."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name[:200])
    return [word for word in re.split(r"[^a-z0-9]+", folded(parted)) if word]


def meaning(name: str) -> Meaning:
    """What a column's name says."""
    words = name_words(name)
    letters = "".join(words)
    bare = frozenset(word for word in (*words, *(word.rstrip("0123456789") for word in words), letters) if word)
    found = {
        concept
        for concept, lists in _CONCEPTS.items()
        if bare & lists.equal or any(stem in letters for stem in lists.held)
    }
    found |= {concept for pattern, concept in _CODES if pattern.fullmatch(letters)}
    if letters in _FULL_NAMES or ("name" in bare and (bare & _NAME_WORDS or not found)):
        found = {Concept.NAME}  # the name of a city is a place
    if bare & _SAMPLING_WEIGHTS or (bare & _WEIGHTS and not bare & _BODY_UNITS):
        found.add(Concept.WEIGHT)
    ends_so = len(letters) > 3 and letters.endswith("id") and len(words) == 1
    numbered, place = bool(bare & _IDENTIFIERS or ends_so), Concept.PLACE in found
    if letters in PERSONS | HOUSEHOLDS or (numbered and not place):
        found.add(Concept.IDENTIFIER)  # the number of a clinic or a county says where, not who
    return Meaning(bare, letters, frozenset(found), numbered and place)


def is_plain_weight(said: Meaning) -> bool:
    """Whether a weight may be a person's, in kilograms: nothing in the name suggests a sample."""
    return not said.words & _SAMPLING_WEIGHTS and said.letters in _WEIGHTS - {"w"}
