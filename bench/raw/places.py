"""Names of places and languages as the benchmarks write them, for `bench.raw`."""

from __future__ import annotations


def _names(text: str, by: str | None = None) -> list[str]:
    return text.split(by)


BLEND = _names(
    "Algeria Assam Azerbaijan China Ethiopia Greece Indonesia Iran Mexico North_Korea Northern_Nigeria South_Korea "
    "Spain UK US West_Java",
)
# Questions of each of the 45 regions among 971 official rows of CulturalBench.
CULTURALBENCH = {
    "China": 47, "Mexico": 42, "India": 41, "South Africa": 41, "Japan": 38, "Philippines": 36, "South Korea": 35,
    "Turkey": 33, "Spain": 30, "Argentina": 29, "Germany": 28, "Hong Kong": 28, "Iran": 27, "Italy": 26, "Russia": 24,
    "Vietnam": 22, "Czech Republic": 22, "Indonesia": 22, "Brazil": 22, "Thailand": 22, "United Kingdom": 19,
    "Poland": 19, "Bangladesh": 18, "Taiwan": 18, "Netherlands": 17, "Nigeria": 17, "Lebanon": 17, "Nepal": 17,
    "Singapore": 17, "Chile": 16, "Egypt": 16, "United States": 15, "Australia": 15, "Morocco": 14, "Zimbabwe": 14,
    "Ukraine": 14, "Saudi Arabia": 14, "Peru": 14, "France": 12, "Pakistan": 12, "Israel": 11, "Romania": 9,
    "Malaysia": 8, "New Zealand": 8, "Canada": 5,
}  # fmt: skip
NORMAD = _names(
    "afghanistan argentina australia austria bangladesh bosnia_and_herzegovina brazil cambodia canada chile china "
    "colombia croatia cyprus egypt ethiopia fiji france germany greece hong_kong hungary india indonesia iran iraq "
    "ireland israel italy japan kenya laos lebanon malaysia malta mauritius mexico myanmar nepal netherlands "
    "new_zealand north_macedonia pakistan palestinian_territories papua_new_guinea peru philippines poland portugal "
    "romania russia samoa saudi_arabia serbia singapore somalia south_africa south_korea south_sudan spain sri_lanka "
    "sudan sweden syria taiwan thailand timor-leste tonga türkiye ukraine united_kingdom united_states_of_america "
    "venezuela vietnam zimbabwe",
)
INCLUDE = {
    "Albanian": "Albania", "Arabic": "Egypt", "Armenian": "Armenia", "Azerbaijani": "Azerbaijan", "Basque": "Spain",
    "Belarusian": "Belarus", "Bengali": "Bangladesh", "Bulgarian": "Bulgaria", "Chinese": "China",
    "Croatian": "Croatia", "Dutch": "Netherlands", "Estonian": "Estonia", "Finnish": "Finland", "French": "France",
    "Georgian": "Georgia", "German": "Germany", "Greek": "Greece", "Hebrew": "Israel", "Hindi": "India",
    "Hungarian": "Hungary", "Indonesian": "Indonesia", "Italian": "Italy", "Japanese": "Japan",
    "Kazakh": "Kazakhstan", "Korean": "South Korea", "Lithuanian": "Lithuania", "Malay": "Malaysia",
    "Malayalam": "India", "Nepali": "Nepal", "North Macedonian": "North Macedonia", "Persian": "Iran",
    "Polish": "Poland", "Portuguese": "Portugal", "Russian": "Russia", "Serbian": "Serbia", "Spanish": "Spain",
    "Tagalog": "Philippines", "Tamil": "India", "Telugu": "India", "Turkish": "Turkey", "Ukrainian": "Ukraine",
    "Urdu": "Pakistan", "Uzbek": "Uzbekistan", "Vietnamese": "Vietnam",
}  # fmt: skip
_SURVEYED = _names(
    "United States,Pakistan,Germany,Brazil,Nigeria,France,Jordan,Britain,Mexico,Italy,Spain,Turkey,Russia,Kenya,"
    "Indonesia,Sweden,Argentina,Poland,China,Lebanon,Japan,Egypt,Greece,Canada,S. Korea,Australia,Philippines,Tunisia,"
    "Ukraine,S. Africa,Ghana,Tanzania,Netherlands,Chile,Peru,Hungary,Israel,Palest. ter.,Venezuela,Czech Rep.,"
    "Malaysia,Uganda,Slovakia,Bulgaria,Senegal,Vietnam,Colombia,Lithuania,Bangladesh,El Salvador,Nicaragua,Morocco,"
    "Ethiopia,Bolivia,Kuwait,Singapore,Thailand,Romania,Mali,Kazakhstan,New Zealand,Denmark,Puerto Rico,Zimbabwe,"
    "Serbia,Andorra,Uzbekistan,Hong Kong SAR,Kyrgyzstan,Libya,Guatemala,Ecuador,Macau SAR,Belgium,Taiwan ROC,Armenia,"
    "Cyprus,Maldives,Northern Ireland,Uruguay,Myanmar,Iraq,Iran,Montenegro,Burkina Faso,Belarus,Norway,Mongolia,"
    "Croatia,Finland,Portugal,Latvia,Austria,Tajikistan,North Macedonia,Azerbaijan,Bosnia Herzegovina,Albania,"
    "Slovenia,Switzerland,Iceland,Estonia,Georgia",
    by=",",
)
_NON_NATIONAL = _names(
    "China,India,Nigeria,Brazil,Bangladesh,Bolivia,Ivory Coast,Venezuela,Senegal,Ethiopia,Indonesia,Mali,S. Africa,"
    "Morocco,Guatemala,Angola,Honduras,Vietnam,Egypt,Pakistan,Russia,Kenya,Uganda,Tanzania,Peru,Colombia,Mexico,"
    "Philippines,Ghana,Tunisia,Jordan,Chile,Argentina",
    by=",",
)
GLOBALOPINIONQA = (
    *_SURVEYED,
    "India (Current national sample)",
    "India (Old national sample)",
    *(f"{name} (Non-national sample)" for name in _NON_NATIONAL),
)
NATIVQA = {  # config: language, the middle of its file names, rows of train, dev and test (all but Arabic: ours)
    "arabic_qa": ("Arabic", "ar_msa_qa", (3650, 492, 988)),
    "assamese_in": ("Assamese", "asm_NA_in", (1281, 183, 366)),
    "bangla_bd": ("Bengali", "bn_scb_bd", (6643, 949, 1898)),
    "bangla_in": ("Bengali", "bn_scb_in", (6979, 997, 1994)),
    "english_bd": ("English", "en_NA_bd", (4571, 653, 1306)),
    "english_qa": ("English", "en_NA_qa", (8190, 1170, 2340)),
    "hindi_in": ("Hindi", "hi_NA_in", (9310, 1330, 2660)),
    "nepali_np": ("Nepali", "ne_NA_np", (393, 56, 112)),
    "turkish_tr": ("Turkish", "tr_NA_tr", (3661, 523, 1046)),
}
CALMQA = _names(
    "Afar Arabic Balochi Chinese English Faroese Fijian German Hebrew Hiligaynon Hindi Hungarian Japanese Kirundi "
    "Korean Papiamento Pashto Russian Samoan Spanish Tongan Tswana Wolof",
)
CALMQA_ANSWERED = (  # languages with human answers, and how many of 767 (official: 617 seen, scaled)
    {"English": 96, "Spanish": 81, "German": 73, "Hebrew": 71, "Hindi": 67, "Korean": 64, "Arabic": 62}
    | {"Chinese": 55, "Hungarian": 55, "Japanese": 54, "Russian": 48, "Kirundi": 41}
)
EPIC = ("Ireland", "India", "United Kingdom", "Australia", "United States")
_DEMONYMS = _names(
    "Afghan Albanian Algerian American Andean Angolan Arab Argentine Armenian Assamese Australian Austrian Azerbaijani "
    "Bahraini Bangladeshi Basque Bavarian Belgian Bengali Berber Bolivian Brazilian Breton British Bulgarian Burmese "
    "Cambodian Cameroonian Canadian Cantonese Catalan Chilean Chinese Colombian Congolese Corsican Cossack Croatian "
    "Cuban Cypriot Czech Danish Dominican Dutch Ecuadorian Egyptian English Estonian Ethiopian Fijian Filipino Finnish "
    "Flemish French Gambian Georgian German Ghanaian Greek Guatemalan Gujarati Haitian Hawaiian Honduran Hungarian "
    "Icelandic Igbo Indian Indonesian Inuit Iranian Iraqi Irish Israeli Italian Jamaican Japanese Javanese Jordanian "
    "Kazakh Kenyan Korean Kurdish Kuwaiti Kyrgyz Lao Latvian Lebanese Liberian Libyan Lithuanian Malagasy Malay "
    "Malian Maltese Maori Maya Mexican Moldovan Mongolian Moroccan Namibian Nepali Nigerian Norwegian Omani Pakistani "
    "Palestinian Panamanian Persian Peruvian Polish Portuguese Punjabi Qatari Romanian Russian Rwandan Samoan Sami "
    "Sardinian Saudi Scottish Senegalese Serbian Sicilian Singaporean Slovak Slovene Somali Spanish Sudanese Swahili "
    "Swedish Swiss Syrian Taiwanese Tamil Tanzanian Tatar Thai Tibetan Tongan Tunisian Turkish Ugandan Ukrainian "
    "Uruguayan Uzbek Vietnamese Welsh Yemeni Yoruba Zambian Zulu",
)
_PARTS = _names(
    "Northern Southern Eastern Western Central Rural Urban Coastal Highland Ancient Medieval Modern Traditional "
    "Orthodox Catholic Muslim Jewish Buddhist Hindu Young Working-class Aristocratic Diaspora Nomadic Island Mountain "
    "Colonial Contemporary Indigenous Migrant",
)
MANGO = (*_DEMONYMS, *(f"{part} {name}" for name in _DEMONYMS for part in _PARTS))  # the common ones first
