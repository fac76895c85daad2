"""Anonymizers: one file per technique. To add one, write its file and a line here.

`ANONYMIZERS` is the registry; third parties add theirs through the entry-point group `auditor.plugins`.
"""

from __future__ import annotations

from anonymizers.anatomy import Anatomy
from anonymizers.base import Anonymizer
from anonymizers.bottom_coding import BottomCoding
from anonymizers.caat import Caat
from anonymizers.cart import Cart
from anonymizers.copula import Copula
from anonymizers.ebkc import Ebkc
from anonymizers.full_domain import FullDomain
from anonymizers.grading import Grading
from anonymizers.identity import Identity
from anonymizers.kaca import Kaca
from anonymizers.kmeans import KMeans1, KMeans2, KMeans3
from anonymizers.kmember import KMember
from anonymizers.l_clustering import LClustering
from anonymizers.loukides_shao import LoukidesShao
from anonymizers.m_invariance import MInvariance
from anonymizers.marginals import Marginals
from anonymizers.mdav import Mdav
from anonymizers.mdav_refined import MdavRefined
from anonymizers.mondrian import Mondrian
from anonymizers.noise import Noise
from anonymizers.noisy_histogram import NoisyHistogram
from anonymizers.oka import OnePassKMeans
from anonymizers.opendp_synthesis import OpenDP
from anonymizers.pram import Pram
from anonymizers.rank_swapping import RankSwapping
from anonymizers.rcellular import RCellular
from anonymizers.record_swapping import RecordSwapping
from anonymizers.rgather import RGather
from anonymizers.rounding import Rounding
from anonymizers.slicing import Slicing
from anonymizers.suppression import Suppression
from anonymizers.top_coding import TopCoding
from anonymizers.wfcm import WeightedFeatureCMeans
from auditor.model.plugin import Registry

ANONYMIZERS: Registry[Anonymizer] = Registry(
    Anonymizer,
    "anonymizer",
    (
        Identity,
        Mondrian,
        FullDomain,
        Suppression,
        KMember,
        Caat,
        Kaca,
        OnePassKMeans,
        KMeans1,
        KMeans2,
        KMeans3,
        WeightedFeatureCMeans,
        LoukidesShao,
        LClustering,
        Ebkc,
        Mdav,
        MdavRefined,
        RGather,
        RCellular,
        Anatomy,
        Slicing,
        MInvariance,
        Grading,
        Noise,
        RankSwapping,
        RecordSwapping,
        Pram,
        TopCoding,
        BottomCoding,
        Rounding,
        Cart,
        Copula,
        Marginals,
        NoisyHistogram,
        OpenDP,
    ),
)

__all__ = ["ANONYMIZERS", "Anonymizer"]
